/** Every size and time limit of the daemon, with the sentence why. Bytes unless the name says otherwise. */

/** One event as a JSON line; larger content stands in blobs. A reader can always hold one. */
export const maxEventBytes = 1024 * 1024;
/** One recording of a run (`--record`): more than a long day's work, less than what fills a disk unseen. */
export const maxRecordingBytes = 64 * 1024 * 1024;
/** Decoded size a data frame is filled to: large enough to compress well, small enough to decode for one event. */
export const frameTargetBytes = 64 * 1024;
/** A frame may hold one event of the largest size and what was gathered before it. Checked before decoding. */
export const maxFrameBytes = maxEventBytes + 2 * frameTargetBytes;
/** zstd window that a reader accepts (2^21 = 2 MiB): covers maxFrameBytes, and bounds a decoder's memory. */
export const maxWindowLog = 21;
/** A field longer than this becomes a blob reference. */
export const maxInlineFieldBytes = 256 * 1024;
/** Deltas that arrive within this time after one was written share the next frame: about half a screen frame. */
export const coalesceMs = 8;
/** A delta's text is split at code points to this size at most. */
export const maxDeltaBytes = 32 * 1024;
/** Decoded bytes of log between two bases: also the size of a page of history. */
export const pageBytes = 64 * 1024;
/**
 * Bytes of a log in small frames before it is repacked at the end of a turn, and their share of the file: so rare that all repacks together cost
 * a few times what one of the whole log does. At its closing less is enough.
 */
export const repackBytes = 64 * 1024;
export const repackShare = 0.25;
export const repackBytesAtClose = 8 * 1024;
/** A closing waits for no longer copy than this: a tenth of a second. */
export const maxRepackBytesAtClose = 8 * 1024 * 1024;
/** A frame whose events are shorter than this was written alone, and compresses badly. */
export const smallFrameBytes = 16 * 1024;
/** Output of a command that is durable as it comes; later output is sampled. */
export const liveOutputBytes = 64 * 1024;
/** After that, at most this much of it a second. */
export const sampledOutputBytes = 2 * 1024;
export const sampledOutputMs = 1000;
/** Model-visible output of one call, head and tail together: what all the peers settled near. */
export const maxResultBytes = 50 * 1024;
export const maxResultLines = 2000;
/** Text of one result that a tool did not bound itself: longer, and head and tail of `maxResultBytes` are shown. */
export const maxCallTextBytes = 64 * 1024;
/** The whole output of a command kept in its spill file. */
export const maxSpillBytes = 64 * 1024 * 1024;
/** Largest file that edit and write handle. */
export const maxEditFileBytes = 4 * 1024 * 1024;
/** Names of a folder among which one is looked for that looks like a name that is not there. */
export const maxLookAlikeNames = 10_000;
/** Files of one patch, and their paths as JSON: what is told of each stands in one event, where their diffs are not counted. */
export const maxPatchFiles = 400;
export const maxPatchPathBytes = 128 * 1024;
/** A shell command that is judged: longer ones, deeper ones, and those that take longer to read are asked about. */
export const maxShellText = 64 * 1024;
export const maxShellDepth = 100;
export const maxShellParseMs = 500;
/** bash: time limit when the model names none, and the longest it may name. */
export const defaultCommandMs = 120_000;
export const maxCommandMs = 3_600_000;
/** Commands in the background of one session that run at once: more than a project's servers and watchers, fewer than would smother a machine. */
export const maxRunningJobs = 16;
/** What a job prints is kept in two files of this size: the newest, and what stood before it. A server may print for days. */
export const maxJobFileBytes = 8 * 1024 * 1024;
/** Of a job's command so many characters stand in its event, which every base carries. */
export const maxJobTitleCharacters = 500;
/** How long one call may wait for a job's end. */
export const maxJobWaitMs = 600_000;
/** Of a job's output so much is shown to a person at once. */
export const maxShownJobBytes = 64 * 1024;
/** The command by which a project's work is checked: a whole test suite, but not a hang. */
export const maxCheckMs = 900_000;
/** Between TERM and KILL to a process group: abort must end within 5 s all in all. */
export const termGraceMs = 2_000;
/** A tool that has no deadline of its own is stopped after this. */
export const toolBackstopMs = 600_000;
/** How long abort waits for a tool that ignores its signal before it closes the call without it. */
export const abortGraceMs = 4_000;
/** Silence on a provider's stream after which the connection counts as dead. */
export const streamIdleMs = 120_000;
/** After the finish reason only the usage and the stream's end are missing; a server that never ends its stream is not waited for longer. */
export const afterFinishMs = 5_000;
/** Bytes of one streamed reply, envelopes and all: far above what models can say, below what an endless stream would fill. */
export const maxReplyBytes = 64 * 1024 * 1024;
/** Of a provider's refusal so much is read: all that a person would. */
export const maxRefusalBytes = 64 * 1024;
/** Model calls in one turn: far above real work, below an endless loop. */
export const maxStepsPerTurn = 10_000;
/** Newest steps that a compaction leaves word for word: so many tokens, and at most this share of the window. */
export const keptContextTokens = 20_000;
export const keptContextShare = 0.2;
/** A compaction that would take out less than this share of the window is not made by itself: it would come again at once. */
export const leastCompactedShare = 0.1;
/** After one that failed the context must have grown by this share of the window before it is tried again. */
export const recompactShare = 0.05;
/** The share of the window that is full before a compaction is made, where the settings say nothing else: a long reply still fits. */
export const defaultCompactAt = 0.8;
/** The question for a summary fills at most this share of the window, where that is known; else so many tokens. */
export const summaryQuestionShare = 0.7;
export const summaryQuestionTokens = 60_000;
/** A summary's own length, in characters: a model that writes more did not summarise. */
export const maxSummaryCharacters = 64 * 1024;
/** Files that a summary names as read, and as changed: the latest. */
export const maxSummaryFiles = 100;
/** Attempts of one model call, the first included: a provider that is down is told to a person soon. Retry-After above the longest wait fails at once. */
export const maxAttempts = 3;
export const firstRetryMs = 1_000;
export const longestRetryMs = 60_000;

/** What a reader of a log file fetches at once: one read finds the headers of many small frames. */
export const readWindowBytes = 64 * 1024;
/** One line of a log's index, base included; a longer one is not written, and one that claims to be longer is damage. */
export const maxIndexEntryBytes = 4 * 1024 * 1024;
/** The daemon's own log before it is rotated; with the one old file twice this stays on disk. */
export const maxDiagnosticsBytes = 4 * 1024 * 1024;
/** One string in the daemon's own log, a stack trace included. */
export const maxDiagnosticValueBytes = 8 * 1024;
/** After a command's shell has ended, others may hold its output open: silence this long, or the whole wait, ends the reading (trap C10). */
export const outputQuietMs = 100;
export const outputDrainMs = 500;
/** How long a process may take to vanish after KILL before we go on without it (it hangs in the kernel). */
export const killWaitMs = 1_000;
/** Answers of one search, and names of one folder: more of them would fill the context without being read. */
export const maxFoundPaths = 200;
export const maxFoundLines = 200;
export const maxListedNames = 500;
/** Names of one folder that a picker looks through: beyond it nobody finds anything by looking. */
export const maxFolderNames = 20_000;
/** One line that a search shows: its match with what stands around it. */
export const maxFoundLineBytes = 500;
/** A file larger than this is not searched; the whole output of a command can be. */
export const maxSearchedFileBytes = maxSpillBytes;
/** Commits that one look at the history shows. */
export const maxLogEntries = 200;
/** A search that takes longer should be a narrower one. */
export const searchMs = 30_000;
/** A pattern or an ignore file beyond this is no honest one. */
export const maxPatternBytes = 4 * 1024;
export const maxIgnoreFileBytes = 256 * 1024;
/** One line that `read` shows: longer ones are minified code or data, of which more would only fill the context. */
export const maxReadLineBytes = 2_000;
/** Text compared line by line for a diff; above it the change is shown without one, as the comparison is quadratic at worst. */
export const maxDiffBytes = 1024 * 1024;
/** Edits of a line-by-line comparison after which it gives up and shows one replaced piece: bounds its time to some 100 ms. */
export const maxDiffEdits = 1_000;
/** Output of a command is gathered this long before it is written: two screen frames. */
export const outputGatherMs = 30;
/** Events of a live session kept in memory for those who follow it, in characters of JSON: a slower reader reads the log. */
export const recentEventCharacters = 256 * 1024;
/** A session that nobody watches and that does nothing is closed after this long: its memory and its lock are freed. */
export const idleSessionMs = 60_000;
/** How often a log that another process writes is looked at while somebody follows it. */
export const watchLogMs = 250;
/** A folder's time is kept in steps of so much at most (FAT): until it has passed, one more name may come without moving it. */
export const folderTimeMs = 2_000;
/** Changes in the folder of the logs are gathered this long before they are looked at. */
export const folderNewsMs = 200;
/** How often sessions that another process writes are looked at, for the list. */
export const foreignLookMs = 1_000;
/** A provider's answer to whether a key works: slow ones take seconds, a person waits no longer. */
export const keyTrialMs = 10_000;
/** A login's new tokens come within this; another process that renews them is waited for a little longer. */
export const loginRenewMs = 10_000;
export const loginLockMs = 15_000;
/** A provider's list of models; the longest known has 1 MB. */
export const maxModelListBytes = 8 * 1024 * 1024;
/** The catalogue of all vendors, when it is fetched: 2 MB at present. */
export const maxCatalogueBytes = 32 * 1024 * 1024;
export const catalogueMs = 60_000;
/** A model server on this machine answers within this, or is not there; and for so long what was found is taken to be still there. */
export const localServerMs = 400;
export const localServersKeptMs = 3_000;
/** Longest side of a picture that is sent as it is: above it Anthropic refuses it in a request that has more than 20. */
export const maxPictureSide = 2000;
/** Longest side of one that is made smaller: what Anthropic scales to itself, so that more would only cost time. */
export const scaledPictureSide = 1568;
/** As base64 it stays below the 5 MiB that Anthropic takes for one picture; the other vendors take more. */
export const maxPictureBytes = 3_900_000;
/** Decoding takes up to 20 bytes a pixel: so much memory can be had, and no camera phone's usual picture is larger. */
export const maxPicturePixels = 50_000_000;
/** One decoding and encoding. */
export const redrawMs = 20_000;
/** Text that is taken out of a PDF: pages, bytes and time; beyond it the file should be looked at with a command. */
export const maxPdfPages = 500;
export const maxPdfTextBytes = 512 * 1024;
export const pdfMs = 15_000;
/** Pages of a PDF that is sent as it is: more than this Anthropic refuses; its text goes instead. */
export const maxSentPdfPages = 100;
/** A picture file that `read` looks at. */
export const maxPictureFileBytes = 32 * 1024 * 1024;
/** Pictures of one request, and their bytes: above 20 Anthropic's limits are stricter, and a request has 32 MB at most, as base64. */
export const maxRequestPictures = 20;
export const maxRequestPictureBytes = 15 * 1024 * 1024;
/** An agent's task list: more entries, or longer ones, are no list that a person reads at a glance. */
export const maxTodos = 50;
export const maxTodoBytes = 500;
/** A question, its options' labels and descriptions each: it stands in a row of a list. */
export const maxQuestionBytes = 4 * 1024;
export const maxQuestionOptions = 8;
/** A plan that a person is to read before they accept it. */
export const maxPlanBytes = 64 * 1024;
/** What a sub-agent may use up in one turn: sent anew (not from a cache) and received. Its work so far is its result then. */
export const subAgentTokens = 50_000;
/** Steps of a sub-agent's turn: the bound where a provider reports no usage. */
export const maxSubAgentSteps = 100;
/** A sub-agent may start others, down to here: deeper, nobody knows any more who works on what. */
export const maxAgentDepth = 3;
/** Sub-agents of one session that work at once; the others wait for them. */
export const maxParallelSubAgents = 4;
/** What a sub-agent is told. */
export const maxTaskBytes = 32 * 1024;
/** Rules of one project: each is held against every call, and a list that nobody reads protects nobody. */
export const maxRules = 500;
/** Whole outputs of commands, of all sessions together: beyond it the oldest go first. */
export const maxSpillsBytes = 2 * 1024 * 1024 * 1024;
/** Cut ends of logs that were kept aside, together: beyond it the oldest go first. */
export const maxTornBytes = 64 * 1024 * 1024;
/** What no log refers to is kept this long: a draft may be about to send it, a crash may have left it half made. */
export const unreferredMs = 7 * 24 * 3_600_000;
/** How often the daemon tidies what it stores. */
export const tidyMs = 24 * 3_600_000;
/** Trying the sandbox at the start: a system that is busy takes a second, a broken one does not answer. */
export const sandboxProbeMs = 10_000;
/** A system prompt of a person's own: more would crowd out the work, as with one file of instructions. */
export const maxSystemPromptBytes = 64 * 1024;

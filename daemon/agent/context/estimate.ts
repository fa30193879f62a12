/** How many tokens something comes to, where no provider has counted it. Estimates, and said to be. */

/** Four characters a token: what text of programs comes to, within a third. Of English less, so that it errs to the safe side. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4);
}

/** What most vendors count for a picture of the largest size. */
export const pictureTokens = 1_600;
/** A page of a PDF goes as its picture and its words: a vendor says 1,500 to 3,000. */
export const pageTokens = 2_000;

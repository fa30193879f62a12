/**
 * The app in the words of the person who uses it. Everything is found by its role and name, as assistive technology finds it; where desktop
 * and phone differ in where a thing stands, they differ here and the stories do not.
 */
import { expect, type Locator, type Page } from '@playwright/test';
import type { Daemon } from './daemon.ts';

export class App {
  readonly page: Page;
  readonly #daemon: Daemon;
  readonly phone: boolean;

  constructor(page: Page, daemon: Daemon, phone: boolean) {
    this.page = page;
    this.#daemon = daemon;
    this.phone = phone;
  }

  get composer(): Locator {
    return this.page.getByRole('textbox', { name: 'Message to the agent' });
  }

  /** The conversation that is open. */
  get conversation(): Locator {
    return this.page.getByRole('log', { name: 'Conversation' });
  }

  /** Open requests where they are answered: the card on a desktop, the sheet on a phone. */
  get approval(): Locator {
    return this.page.getByRole('region', { name: /\?$/ });
  }

  /** All sessions with their states. */
  get sidebar(): Locator {
    return this.page.getByRole('navigation', { name: 'Sessions' });
  }

  /** Opens the link that `alcove pair` would print, in the tab that is there. */
  async pair(): Promise<void> {
    const { link } = await this.#daemon.call('pairing.create', {});
    await this.page.goto(link);
    await expect(this.page.getByRole('heading', { level: 1 })).not.toHaveText(/Pair this browser/);
  }

  /** The folder that the daemon was started in, which it offers. */
  async openOfferedFolder(): Promise<void> {
    await this.page.getByRole('button', { name: /^Open .*\// }).click();
    await this.page.waitForURL(/\/new\?/);
    await expect(this.composer).toBeVisible();
  }

  /** Types and sends: Enter on a desktop, the button where fingers type. */
  async say(text: string): Promise<void> {
    await this.composer.fill(text);
    const touch = await this.page.evaluate(() => matchMedia('(pointer: coarse)').matches);
    if (touch) await this.page.getByRole('button', { name: /^(Send|Steer)$/ }).click();
    else await this.composer.press('Enter');
    // Sent: the field is empty again, or a request has taken its place.
    const texts = () =>
      this.composer.evaluateAll((fields) => fields.map((field) => (field as HTMLTextAreaElement).value));
    await expect.poll(async () => (await texts()).join('')).toBe('');
    // The first words of a session lead to it: whoever reloads before is on the page of new sessions still.
    await this.page.waitForURL(/\/s\/ses_/);
  }

  /** Stands in the conversation, once. */
  async sees(text: string | RegExp): Promise<void> {
    const found = this.conversation.getByText(text, { exact: true });
    await expect(found).toHaveCount(1);
    await expect(found).toBeVisible();
  }

  async allowOnce(): Promise<void> {
    await this.approval.getByRole('button', { name: /^Allow once/ }).click();
  }

  /** Allows whatever is asked until the turn has ended; says how often it was asked. */
  async allowUntilDone(): Promise<number> {
    const stop = this.page.getByRole('button', { name: 'Stop' });
    const asked = this.approval.getByRole('button', { name: /^Allow once/ });
    for (let times = 0; ; times += 1) {
      await expect.poll(async () => (await asked.count()) > 0 || (await stop.count()) === 0).toBe(true);
      if ((await asked.count()) === 0) return times;
      const heading = await this.approval.getByRole('heading').textContent();
      await asked.click();
      await expect(this.approval.getByRole('heading', { name: heading ?? '', exact: true })).toHaveCount(0);
    }
  }

  async deny(): Promise<void> {
    await this.approval.getByRole('button', { name: /^Deny( N)?$/ }).click();
  }

  async chooseMode(label: 'Ask first' | 'Plan' | 'Auto'): Promise<void> {
    await this.page.getByRole('button', { name: /^Mode: / }).click();
    await this.page.getByRole('menuitemradio', { name: label }).click();
  }

  get modelButton(): Locator {
    return this.page.getByRole('button', { name: /^Model: / });
  }

  /** Opens the dialog of models and types into its search. */
  async searchModels(text: string): Promise<void> {
    await this.modelButton.click();
    await this.page.getByRole('combobox', { name: 'Search the models' }).fill(text);
  }

  /** As the file dialog would hand them over. */
  async attach(files: { name: string; mimeType: string; buffer: Buffer }[]): Promise<void> {
    await this.page.getByLabel('Files to attach').setInputFiles(files);
  }

  get attached(): Locator {
    return this.page.getByRole('list', { name: 'Attached' });
  }

  /** Buttons beside it on a desktop, a menu on a phone. */
  async actOnQueued(place: number, action: string): Promise<void> {
    const row = this.page.getByRole('list', { name: 'Queued' }).getByRole('listitem').nth(place);
    if (this.phone) {
      await row.getByRole('button', { name: 'What to do with it' }).click();
      await this.page.getByRole('menuitem', { name: action }).click();
    } else await row.getByRole('button', { name: action }).click();
  }

  async showSessions(): Promise<void> {
    if (this.phone) await this.page.getByRole('link', { name: 'Sessions' }).click();
  }

  /** A new session in the same project. */
  async newSession(): Promise<void> {
    await this.showSessions();
    await this.page
      .getByRole('link', { name: /^New session/ })
      .first()
      .click();
    // The composer of the session before is there until the address changes.
    await this.page.waitForURL(/\/new(\?|$)/);
    await expect(this.composer).toBeVisible();
  }
}

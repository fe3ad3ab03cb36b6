/**
 * Server-Sent Events: one writer, any number of open pages.
 *
 * Each event has a mark. A page says which one it knows, and is told at once if it missed any: between its first look at
 * the data and its connection, while it was disconnected, or because the server is another one by now.
 */

const KEEP_ALIVE_MS = 15_000;
/** A page that has so much of its stream unread does not read any more. If it comes back, it is told that it missed some. */
const MOST_UNREAD_BYTES = 65_536;

export class EventStream {
  #pages = new Set();
  #timer = null;
  #began = Date.now();
  #sent = 0;

  /** The mark of the latest event: what a page knows that is served now. */
  get mark() {
    return `${this.#began}-${this.#sent}`;
  }

  /**
   * Keeps a request open as a listener until its page goes away.
   * @param {string|null} [known]   the mark that the page was served with; a browser that connects again sends its own
   */
  add(request, response, known = null) {
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      Connection: "keep-alive",
      "X-Content-Type-Options": "nosniff",
    });
    // A page that lost its server reconnects after this time.
    response.write("retry: 500\n\n");
    const latest = request.headers["last-event-id"] || known;
    if (latest !== null && latest !== this.mark) response.write(this.#event("missed", {}));
    this.#pages.add(response);
    request.on("close", () => this.#pages.delete(response));
    if (this.#timer === null) {
      this.#timer = setInterval(() => this.#write(": still here\n\n"), KEEP_ALIVE_MS);
      this.#timer.unref();
    }
  }

  /** Sends an event to every open page. */
  send(name, data) {
    this.#sent += 1;
    this.#write(this.#event(name, data));
  }

  close() {
    clearInterval(this.#timer);
    for (const response of this.#pages) response.end();
    this.#pages.clear();
  }

  #event(name, data) {
    return `id: ${this.mark}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  }

  #write(text) {
    for (const response of this.#pages) {
      if (response.writableLength > MOST_UNREAD_BYTES) response.destroy();
      else response.write(text);
    }
  }
}

/** Server-Sent Events: one writer, any number of open pages. */

const KEEP_ALIVE_MS = 15_000;

export class EventStream {
  #pages = new Set();
  #timer = null;

  /** Keeps a request open as a listener until its page goes away. */
  add(request, response) {
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      Connection: "keep-alive",
      "X-Content-Type-Options": "nosniff",
    });
    // A page that lost its server reconnects after this time.
    response.write("retry: 500\n\n");
    this.#pages.add(response);
    request.on("close", () => this.#pages.delete(response));
    if (this.#timer === null) {
      this.#timer = setInterval(() => this.#write(": still here\n\n"), KEEP_ALIVE_MS);
      this.#timer.unref();
    }
  }

  /** Sends an event to every open page. */
  send(name, data) {
    this.#write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** The number of open pages. */
  get size() {
    return this.#pages.size;
  }

  close() {
    clearInterval(this.#timer);
    for (const response of this.#pages) response.end();
    this.#pages.clear();
  }

  #write(text) {
    for (const response of this.#pages) response.write(text);
  }
}

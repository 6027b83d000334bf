import type { CallOptions, Operation, Transport } from './transport.ts'

/** A page of the partner API, or one of the catalogue API. */
type AnyPage<Item> =
  | { items: Item[]; next_cursor?: string | null }
  | { data: Item[]; page: number; limit: number; count: number }

/**
 * A list of the API. Iterate over it with `for await` to get the items of all pages; each page is fetched when the loop reaches
 * it. Or `await` it to get the first page.
 */
export class List<Item, Page> implements PromiseLike<Page>, AsyncIterable<Item> {
  readonly #fetchPage: (query: object) => Promise<Page>
  #firstPage: Promise<Page> | undefined

  constructor(transport: Transport, operation: Operation, options: CallOptions | undefined) {
    this.#fetchPage = (query) =>
      transport.send<Page>({ ...operation, query: { ...operation.query, ...query } }, options)
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a list returns its first page
  then<Fulfilled = Page, Rejected = never>(
    onFulfilled?: ((page: Page) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#first().then(onFulfilled, onRejected)
  }

  catch<Rejected = never>(onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null) {
    return this.#first().catch(onRejected)
  }

  finally(onFinally?: (() => void) | null): Promise<Page> {
    return this.#first().finally(onFinally)
  }

  /** Iterates over the pages. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    let page = await this.#first()
    for (;;) {
      yield page
      const query = nextPageQuery(page as AnyPage<Item>)
      if (!query) return
      page = await this.#fetchPage(query)
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) {
      const { items, data } = page as { items?: Item[]; data?: Item[] }
      yield* items ?? data ?? []
    }
  }

  #first(): Promise<Page> {
    this.#firstPage ??= this.#fetchPage({})
    return this.#firstPage
  }
}

/** Returns the query parameters of the next page, or undefined after the last one. */
function nextPageQuery(page: AnyPage<unknown>): object | undefined {
  if ('items' in page) return page.next_cursor ? { cursor: page.next_cursor } : undefined
  return page.data.length > 0 && page.page * page.limit < page.count ? { page: page.page + 1 } : undefined
}

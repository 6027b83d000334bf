import type { Page } from 'playwright-core'

/** Removes fields from the data of all API responses in the page, as if the server was of a version without them. */
export async function omitFields(page: Page, names: string[]): Promise<void> {
  await page.addInitScript((omitted) => {
    const { prototype } = Response as any
    const { json } = prototype
    prototype.json = async function () {
      const body = await json.call(this)
      for (const name of omitted) delete body.data?.[name]
      return body
    }
  }, names)
}

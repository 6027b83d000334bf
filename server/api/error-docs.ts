/** Path of the page that describes every error. */
const ERROR_DOCS_PATH = '/docs/errors'

/** Returns the path of the section about an error. The catalogue API has no codes, so its sections are named after the HTTP status. */
export function errorDocPath(api: string, code: string, status: number): string {
  if (api === 'partner' || api === 'verification') return `${ERROR_DOCS_PATH}#${api}-${code}`
  if (api === 'catalogue') return `${ERROR_DOCS_PATH}#catalogue-${status}`
  return ERROR_DOCS_PATH
}

const URL_WITH_PATH = /(https?:\/\/[^/\s]+)(\/\S*)/g
/** Tokens of links have at least 128 random bits. */
const TOKEN = /[A-Za-z0-9_-]{20,}/g

/** Replaces the tokens and IDs in the links of a text, so that the links no longer give access. */
export function redactTokens(text: string): string {
  return text.replace(URL_WITH_PATH, (_, host: string, path: string) => host + path.replace(TOKEN, '…'))
}

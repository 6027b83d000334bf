import { decodeBase64Url, decodeEd25519Multikey, parseJwt, verifyEd25519 } from './jwt.ts'

const STEPS = ['content', 'issuer', 'key', 'signature', 'validity', 'status'] as const
type StepName = (typeof STEPS)[number]

/** `open` means that the check could not be completed, for example without a connection. */
export interface StepResult {
  step: StepName
  state: 'passed' | 'failed' | 'open'
  /** Key of the text to show. */
  text: string
  values?: Record<string, string>
}

export type Verdict = 'valid' | 'invalid' | 'revoked' | 'expired' | 'not_yet' | 'incomplete'

export interface VerificationInput {
  jwt: string
  /** The address of the page: issuer and credential must belong to the same website. */
  pageUrl: URL
  /** Compares the page with the signed content. */
  matchesPage: (payload: Record<string, unknown>) => boolean
  onStep: (result: StepResult) => void
}

const REQUEST_TIMEOUT_MS = 15_000
/** A smaller difference between the clocks of device, server and issuer has no effect. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000

/** Checks a credential of this website in the browser: its content, issuer, key, signature, validity period and revocation. */
export async function verifyCredential(input: VerificationInput): Promise<Verdict> {
  const { pageUrl, onStep } = input
  let verdict: Verdict = 'valid'
  let serverTime: number | undefined

  const jwt = parseJwt(input.jwt)
  if (jwt?.header.alg !== 'EdDSA' || typeof jwt.payload.issuer !== 'object')
    return stopAt(fail('content', 'content_unreadable'))
  const { payload } = jwt
  const credentialHost = hostOf(payload.id)
  if (credentialHost !== pageUrl.host) return stopAt(fail('content', 'domain_bad', { host: credentialHost }))
  if (!input.matchesPage(payload)) return stopAt(fail('content', 'content_bad'))
  pass('content', 'content_ok')

  const did = String((payload.issuer as { id?: unknown }).id)
  const keyId = String(jwt.header.kid)
  const issuer = didWebUrl(did)
  if (!issuer || keyId.split('#')[0] !== did || (payload.iss !== undefined && payload.iss !== did))
    return stopAt(fail('issuer', 'issuer_bad'))
  if (issuer.host !== pageUrl.host) return stopAt(fail('issuer', 'domain_bad', { host: issuer.host }))
  const didResponse = await load(issuer.path)
  if (didResponse.status === 'offline') return stopAt(leaveOpen('issuer', 'offline'))
  serverTime = didResponse.serverTime
  const didDocument = parseObject(didResponse.body)
  if (!didDocument) return stopAt(leaveOpen('issuer', 'issuer_missing'))
  if (didDocument.id !== did) return stopAt(fail('issuer', 'issuer_bad'))
  pass('issuer', 'issuer_ok', { host: issuer.host })

  const key = findKey(didDocument, keyId)
  if (!key) return stopAt(fail('key', 'key_unknown'))
  if (key === 'revoked') return stopAt(fail('key', 'key_revoked'))
  pass('key', 'key_ok')

  const isGenuine = await verifyEd25519(key, jwt)
  if (isGenuine === undefined) return stopAt(leaveOpen('signature', 'signature_unsupported'))
  if (!isGenuine) return stopAt(fail('signature', 'signature_bad'))
  pass('signature', 'signature_ok')

  checkValidity(payload)
  await checkStatus(payload)
  return verdict

  function checkValidity({ validFrom, validUntil }: Record<string, unknown>) {
    const deviceTime = Date.now()
    const clockSkew = serverTime === undefined ? 0 : Math.abs(serverTime - deviceTime)
    const isEarly = (time: number) => typeof validFrom === 'string' && Date.parse(validFrom) > time + MAX_CLOCK_SKEW_MS
    const isLate = (time: number) => typeof validUntil === 'string' && Date.parse(validUntil) <= time
    const deviceDisagrees =
      serverTime !== undefined &&
      (isEarly(deviceTime) !== isEarly(serverTime) || isLate(deviceTime) !== isLate(serverTime))
    // Without this, a person with a wrong clock would believe that the credential is wrong.
    if (clockSkew > MAX_CLOCK_SKEW_MS && deviceDisagrees)
      leaveOpen('validity', 'clock_wrong', { minutes: String(Math.round(clockSkew / 60_000)) })
    else if (isLate(deviceTime)) {
      fail('validity', 'validity_expired')
      verdict = 'expired'
    } else if (isEarly(deviceTime)) {
      fail('validity', 'validity_not_yet')
      verdict = 'not_yet'
    } else pass('validity', 'validity_ok')
  }

  async function checkStatus({ credentialStatus }: Record<string, unknown>) {
    const entries = [credentialStatus].flat() as { statusListCredential?: unknown; statusListIndex?: unknown }[]
    const entry = entries.find((each) => typeof each?.statusListCredential === 'string')
    if (!entry) return leaveOpen('status', 'status_missing')
    const listHost = hostOf(entry.statusListCredential)
    if (listHost !== pageUrl.host) return fail('status', 'domain_bad', { host: listHost })
    const response = await load(`${new URL(String(entry.statusListCredential)).pathname}.jwt`)
    if (response.status === 'offline') return leaveOpen('status', 'offline')
    if (response.status !== 200) return leaveOpen('status', 'status_missing')
    const bits = await readStatusList(response.body, did, didDocument!, String(entry.statusListCredential))
    if (bits === 'unsupported') return leaveOpen('status', 'signature_unsupported')
    const index = Number(entry.statusListIndex)
    if (!bits || !(index >= 0) || index >= bits.length * 8) return fail('status', 'status_bad')
    if (bits[index >> 3]! & (0x80 >> (index & 7))) {
      fail('status', 'status_revoked')
      verdict = 'revoked'
    } else pass('status', 'status_ok')
  }

  function pass(step: StepName, text: string, values?: Record<string, string>) {
    onStep({ step, state: 'passed', text, ...(values && { values }) })
  }

  function fail(step: StepName, text: string, values?: Record<string, string>): StepName {
    onStep({ step, state: 'failed', text, ...(values && { values }) })
    verdict = 'invalid'
    return step
  }

  function leaveOpen(step: StepName, text: string, values?: Record<string, string>): StepName {
    onStep({ step, state: 'open', text, ...(values && { values }) })
    if (verdict === 'valid') verdict = 'incomplete'
    return step
  }

  /** Marks the steps after the given one as not checked, because they depend on it. */
  function stopAt(step: StepName): Verdict {
    for (const later of STEPS.slice(STEPS.indexOf(step) + 1))
      onStep({ step: later, state: 'open', text: 'not_checked' })
    return verdict
  }
}

/** Returns the status list as bytes; undefined if it is damaged or not signed by the issuer of the credential. */
async function readStatusList(
  text: string,
  did: string,
  didDocument: Record<string, unknown>,
  url: string,
): Promise<Uint8Array | 'unsupported' | undefined> {
  const jwt = parseJwt(text)
  if (!jwt) return undefined
  const { id, issuer, credentialSubject } = jwt.payload as {
    id?: unknown
    issuer?: string | { id?: string }
    credentialSubject?: { encodedList?: unknown; statusPurpose?: unknown }
  }
  const issuerId = typeof issuer === 'object' ? issuer.id : issuer
  const encodedList = credentialSubject?.encodedList
  const key = findKey(didDocument, String(jwt.header.kid))
  if (id !== url || issuerId !== did || !key || key === 'revoked') return undefined
  if (typeof encodedList !== 'string' || !encodedList.startsWith('u')) return undefined
  if (!(await verifyEd25519(key, jwt))) return undefined
  if (typeof DecompressionStream === 'undefined') return 'unsupported'
  try {
    const compressed = new Blob([decodeBase64Url(encodedList.slice(1))]).stream()
    const response = new Response(compressed.pipeThrough(new DecompressionStream('gzip')))
    return new Uint8Array(await response.arrayBuffer())
  } catch {
    return undefined
  }
}

/** Returns the host and the path of the DID document of a did:web identifier. */
function didWebUrl(did: string): { host: string; path: string } | undefined {
  const [scheme, method, host, ...path] = did.split(':')
  if (scheme !== 'did' || method !== 'web' || !host) return undefined
  const folder = path.length === 0 ? '/.well-known' : path.map((segment) => `/${segment}`).join('')
  return { host: decodeURIComponent(host), path: `${folder}/did.json` }
}

function findKey(
  { verificationMethod, assertionMethod }: Record<string, unknown>,
  keyId: string,
): Uint8Array<ArrayBuffer> | 'revoked' | undefined {
  const methods = Array.isArray(verificationMethod) ? verificationMethod : []
  const method = methods.find((each) => each?.id === keyId)
  if (method?.revoked) return 'revoked'
  if (!Array.isArray(assertionMethod) || !assertionMethod.includes(keyId)) return undefined
  return decodeEd25519Multikey(method?.publicKeyMultibase)
}

type Loaded = { status: 'offline' } | { status: number; body: string; serverTime: number | undefined }

/** Loads a file of this website. Never throws. */
async function load(path: string): Promise<Loaded & { body: string; serverTime: number | undefined }> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), REQUEST_TIMEOUT_MS)
  try {
    const response = await fetch(path, { cache: 'no-cache', credentials: 'omit', signal: controller.signal })
    const serverTime = Date.parse(response.headers.get('date') ?? '')
    return {
      status: response.status,
      body: response.ok ? await response.text() : '',
      serverTime: Number.isNaN(serverTime) ? undefined : serverTime,
    }
  } catch {
    return { status: 'offline', body: '', serverTime: undefined }
  } finally {
    clearTimeout(timer)
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function hostOf(url: unknown): string {
  try {
    return new URL(String(url)).host
  } catch {
    return ''
  }
}

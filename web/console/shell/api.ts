import { currentLanguage, t } from '../../translations/translate.ts'
import { translateError } from '../shared/error-texts.ts'

/** An error response of the API, with the request fields that it concerns. */
export interface ApiError {
  status: number
  code: string
  message: string
  details: { path: string; message: string }[]
}

export type ApiResponse<T> = { ok: true; data: T; status: number } | { ok: false; error: ApiError }

/** The last responses with their ETags, so that polls of unchanged data transfer no body. Kept in memory only. */
const latestResponses = new Map<string, { etag: string; data: unknown }>()
const MAX_LATEST_RESPONSES = 60

export interface ApiOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  body?: unknown
  /** Sent unchanged as the request body, instead of JSON. */
  file?: Blob
  /** Validates the request without storing anything. */
  dryRun?: boolean
  idempotencyKey?: string
  signal?: AbortSignal
}

let csrfToken = ''
let handleSignedOut = () => {}
let confirmIdentity: () => Promise<boolean> = async () => false

export function setCsrfToken(token: string): void {
  if (token !== csrfToken) latestResponses.clear() // another user may have signed in
  csrfToken = token
}

/** Registers the function to call when the API responds that the session has ended. */
export function onSignedOut(handler: () => void): void {
  handleSignedOut = handler
}

/** Registers the function that asks the user for a code. It resolves to false if the user cancels. */
export function onConfirmationRequired(handler: () => Promise<boolean>): void {
  confirmIdentity = handler
}

/**
 * Calls the console's API. `path` is below /console/api. If the API requires a recent sign-in, asks the user for a code and calls it
 * again.
 */
export async function api<T>(path: string, options: ApiOptions = {}): Promise<ApiResponse<T>> {
  const response = await call<T>(path, options)
  if (response.ok || response.error.code !== 'RECENT_SIGN_IN_REQUIRED') return response
  return (await confirmIdentity()) ? call<T>(path, options) : response
}

async function call<T>(path: string, options: ApiOptions): Promise<ApiResponse<T>> {
  const { body, file, dryRun, idempotencyKey, signal } = options
  const method = options.method ?? (body === undefined && !file ? 'GET' : 'POST')
  // The sign-in page has no account: the server writes its emails in the language of the page.
  const headers: Record<string, string> = { accept: 'application/json', 'accept-language': currentLanguage() }
  const latest = method === 'GET' ? latestResponses.get(path) : undefined
  if (latest) headers['if-none-match'] = latest.etag
  if (method !== 'GET') headers['x-csrf-token'] = csrfToken
  if (file) headers['content-type'] = 'application/octet-stream'
  else if (body !== undefined) headers['content-type'] = 'application/json'
  if (dryRun) headers['x-dry-run'] = 'true'
  if (idempotencyKey) headers['idempotency-key'] = idempotencyKey
  try {
    const response = await fetch(`/console/api${path}`, {
      method,
      headers,
      body: file ?? (body === undefined ? null : JSON.stringify(body)),
      ...(signal ? { signal } : {}),
    })
    if (response.status === 304 && latest) return { ok: true, data: latest.data as T, status: 304 }
    const envelope = await response.json()
    if (method === 'GET' && response.ok) rememberResponse(path, response.headers.get('etag'), envelope.data)
    if (response.ok) return { ok: true, data: envelope.data as T, status: response.status }
    if (response.status === 401 && !path.startsWith('/sign-in')) handleSignedOut()
    const {
      code = 'UNEXPECTED',
      message = t('The server returned status {status}.', { status: response.status }),
      details = [],
    } = envelope.error ?? {}
    return { ok: false, error: translateError({ status: response.status, code, message, details }) }
  } catch (error) {
    if (signal?.aborted) throw error
    const message = t('The server cannot be reached. Check your connection and try again.')
    return { ok: false, error: { status: 0, code: 'OFFLINE', message, details: [] } }
  }
}

function rememberResponse(path: string, etag: string | null, data: unknown) {
  latestResponses.delete(path)
  if (!etag) return
  latestResponses.set(path, { etag, data })
  const [oldest] = latestResponses.keys()
  if (latestResponses.size > MAX_LATEST_RESPONSES) latestResponses.delete(oldest!)
}

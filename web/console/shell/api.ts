/** An error response of the API, with the request fields that it concerns. */
export interface ApiError {
  status: number
  code: string
  message: string
  details: { path: string; message: string }[]
}

export type ApiResponse<T> = { ok: true; data: T; status: number } | { ok: false; error: ApiError }

export interface ApiOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
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
  const headers: Record<string, string> = { accept: 'application/json' }
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
    const envelope = await response.json()
    if (response.ok) return { ok: true, data: envelope.data as T, status: response.status }
    if (response.status === 401 && !path.startsWith('/sign-in')) handleSignedOut()
    const {
      code = 'UNEXPECTED',
      message = `The server returned status ${response.status}.`,
      details = [],
    } = envelope.error ?? {}
    return { ok: false, error: { status: response.status, code, message, details } }
  } catch (error) {
    if (signal?.aborted) throw error
    const message = 'The server cannot be reached. Check your connection and try again.'
    return { ok: false, error: { status: 0, code: 'OFFLINE', message, details: [] } }
  }
}

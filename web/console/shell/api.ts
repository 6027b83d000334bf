/** A refusal, with the places that it is about. */
export interface Refusal {
  status: number
  code: string
  message: string
  details: { path: string; message: string }[]
}

export type Answer<T> = { ok: true; data: T; status: number } | { ok: false; refusal: Refusal }

export interface Options {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  body?: unknown
  /** Sent as it is, in place of a body. */
  file?: Blob
  /** Ask what the server would say, and keep nothing. */
  dryRun?: boolean
  idempotencyKey?: string
  signal?: AbortSignal
}

let csrf = ''
let onSignedOut = () => {}

export function useCsrf(token: string): void {
  csrf = token
}

export function whenSignedOut(act: () => void): void {
  onSignedOut = act
}

/** Calls the console's API. `path` is below /console/api. */
export async function api<T>(path: string, options: Options = {}): Promise<Answer<T>> {
  const { body, file, dryRun, idempotencyKey, signal } = options
  const method = options.method ?? (body === undefined && !file ? 'GET' : 'POST')
  const headers: Record<string, string> = { accept: 'application/json' }
  if (method !== 'GET') headers['x-csrf-token'] = csrf
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
    const answer = await response.json()
    if (response.ok) return { ok: true, data: answer.data as T, status: response.status }
    if (response.status === 401 && !path.startsWith('/sign-in')) onSignedOut()
    const {
      code = 'UNEXPECTED',
      message = `The server answered ${response.status}.`,
      details = [],
    } = answer.error ?? {}
    return { ok: false, refusal: { status: response.status, code, message, details } }
  } catch (error) {
    if (signal?.aborted) throw error
    const message = 'The server cannot be reached. Check the connection and try again.'
    return { ok: false, refusal: { status: 0, code: 'OFFLINE', message, details: [] } }
  }
}

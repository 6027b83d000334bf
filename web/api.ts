/** The result of an API call: the data, or an error to show. A failed connection is the error `OFFLINE`. */
export type ApiResult<T> =
  | { ok: true; data: T; status: number }
  | { ok: false; code: string; message: string; status: number }

export interface ApiCallOptions {
  body?: unknown
  /** A file that is sent as it is, instead of a JSON body. */
  file?: File
  method?: string
  headers?: Record<string, string>
  timeoutMs?: number
}

export const OFFLINE = 'OFFLINE'

const MAX_ATTEMPTS = 3
const MAX_RETRY_DELAY_SECONDS = 3

/** Calls the API. Never throws: a failed connection is returned as an error. */
export async function call<T>(path: string, options: ApiCallOptions = {}): Promise<ApiResult<T>> {
  for (let attempt = 1; ; attempt++) {
    const { result, retryAfterSeconds } = await callOnce<T>(path, options)
    // Retry after a short rate limit without showing an error to the user.
    if (result.status !== 429 || attempt === MAX_ATTEMPTS || retryAfterSeconds > MAX_RETRY_DELAY_SECONDS) return result
    await new Promise((resolve) => setTimeout(resolve, retryAfterSeconds * 1000))
  }
}

async function callOnce<T>(
  path: string,
  { body, file, method, headers, timeoutMs = 20_000 }: ApiCallOptions,
): Promise<{ result: ApiResult<T>; retryAfterSeconds: number }> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), timeoutMs)
  try {
    const response = await fetch(path, {
      method: method ?? (body === undefined && !file ? 'GET' : 'POST'),
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(file ? { 'content-type': file.type || 'application/octet-stream' } : {}),
        ...headers,
      },
      body: file ?? (body === undefined ? null : JSON.stringify(body)),
      signal: controller.signal,
      credentials: 'same-origin',
    })
    const envelope = await response.json()
    const { status } = response
    const retryAfterSeconds = Number(response.headers.get('retry-after')) || 1
    if (response.ok && envelope.success)
      return { result: { ok: true, data: envelope.data as T, status }, retryAfterSeconds }
    const { code = 'UNEXPECTED', message = '' } = envelope.error ?? {}
    return { result: { ok: false, code, message, status }, retryAfterSeconds }
  } catch {
    return { result: { ok: false, code: OFFLINE, message: '', status: 0 }, retryAfterSeconds: 0 }
  } finally {
    clearTimeout(timer)
  }
}

/** What a call came to: the data, or a refusal to show, or no connection. */
export type Outcome<T> =
  | { ok: true; data: T; status: number }
  | { ok: false; code: string; message: string; status: number }

export interface CallOptions {
  body?: unknown
  method?: string
  headers?: Record<string, string>
  /** Milliseconds. */
  timeout?: number
}

export const OFFLINE = 'OFFLINE'

const TRIES = 3
const LONGEST_PAUSE = 3

/** Calls the API. A missing connection is an outcome like others: pages say so and try again. */
export async function call<T>(path: string, options: CallOptions = {}): Promise<Outcome<T>> {
  for (let tries = 1; ; tries++) {
    const { outcome, pause } = await once<T>(path, options)
    // Somebody who is quicker than a limit allows need not hear of it.
    if (outcome.status !== 429 || tries === TRIES || pause > LONGEST_PAUSE) return outcome
    await new Promise((resolve) => setTimeout(resolve, pause * 1000))
  }
}

async function once<T>(
  path: string,
  { body, method, headers, timeout = 20_000 }: CallOptions,
): Promise<{ outcome: Outcome<T>; pause: number }> {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), timeout)
  try {
    const response = await fetch(path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: stop.signal,
      credentials: 'same-origin',
    })
    const answer = await response.json()
    const { status } = response
    const pause = Number(response.headers.get('retry-after')) || 1
    if (response.ok && answer.success) return { outcome: { ok: true, data: answer.data as T, status }, pause }
    const { code = 'UNEXPECTED', message = '' } = answer.error ?? {}
    return { outcome: { ok: false, code, message, status }, pause }
  } catch {
    return { outcome: { ok: false, code: OFFLINE, message: '', status: 0 }, pause: 0 }
  } finally {
    clearTimeout(timer)
  }
}

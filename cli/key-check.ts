import { AttestryClient, type AttestryResponse, type RequestOptions } from '../sdk/index.ts'
import { explainRejectedSignature } from '../sdk/rejected-signature.ts'
import { describeConnectionError } from './connection-error.ts'
import { messageWithDetails } from './print.ts'
import type { Profile } from './profile.ts'

/** A short list that every key can request. */
const PROBE_PATH = '/shifts'
const PROBE_TIMEOUT_MS = 10_000

interface ErrorBody {
  error?: { message: string; details?: { path: string; message: string }[] }
}

/** Returns why the server rejects the key, or undefined if it accepts the key. Throws if the server cannot be reached. */
export async function findKeyRejection(profile: Profile): Promise<string | undefined> {
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS)
  const response = await new AttestryClient(profile)
    .request<ErrorBody>('GET', PROBE_PATH, { signal })
    .catch((error) => {
      throw new Error(describeConnectionError(profile.baseUrl, error))
    })
  if (response.status !== 401) return undefined
  const explanation = await explainUnauthorized(profile, 'GET', PROBE_PATH, {}, response)
  if (explanation !== undefined) return explanation
  const { message, details = [] } = response.body?.error ?? {}
  return message === undefined ? 'The server returned status 401.' : messageWithDetails(message, details)
}

/** Returns why a signed call was rejected, if only the secret can be wrong. */
export function explainUnauthorized(
  { baseUrl, keyId }: Profile,
  method: string,
  path: string,
  { body, onBehalfOf, idempotencyKey }: RequestOptions,
  response: AttestryResponse,
): Promise<string | undefined> {
  const { pathname, search } = new URL(baseUrl + (path.startsWith('/api/') ? path : `/api/v1/partner${path}`))
  const request = { method, target: pathname + search, onBehalfOf, idempotencyKey }
  return explainRejectedSignature(
    keyId,
    body === undefined ? request : { ...request, body: JSON.stringify(body) },
    response,
  )
}

import { linesToSign, type SignInput } from './sign.ts'

interface Rejection {
  status: number
  headers: Headers
  body: unknown
}

interface ErrorBody {
  error?: { details?: { path: string; message: string }[] }
}

/** The server accepts timestamps that differ from its clock by up to this many seconds. */
const CLOCK_WINDOW_SECONDS = 300
const LINE_COUNT = 7

/**
 * Returns why a TEST key was rejected if the server read exactly the string that was signed: then only the secret can be wrong. For a TEST
 * key, the error contains the string that the server expected.
 */
export async function explainRejectedSignature(
  keyId: string,
  request: Omit<SignInput, 'secret' | 'timestamp'>,
  { status, headers, body }: Rejection,
): Promise<string | undefined> {
  const details = (body as ErrorBody | undefined)?.error?.details
  if (status !== 401 || !Array.isArray(details) || details.some(({ path }) => path === 'headers.x-api-key'))
    return undefined
  const expected = details
    .find(({ path }) => path === 'headers.x-signature')
    ?.message.split('\n')
    .slice(-LINE_COUNT)
  const timestamp = Number(expected?.[1])
  const serverTime = Date.parse(headers.get('date') ?? '') / 1000
  if (!expected || Math.abs(serverTime - timestamp) > CLOCK_WINDOW_SECONDS) return undefined
  if (expected.join('\n') !== (await linesToSign({ ...request, secret: '', timestamp }))) return undefined
  return `The server expected the same string to sign that was signed, so the secret does not belong to the key ${keyId}. Check that it is the current secret of this key, and complete.`
}

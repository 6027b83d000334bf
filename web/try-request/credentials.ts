/** The credentials that the user entered. They are stored in this browser tab until it is closed. */
export interface Credentials {
  keyId: string
  secret: string
  sessionKey: string
  sessionToken: string
}

const STORAGE_KEY = 'attestry-try-request'
const NO_CREDENTIALS: Credentials = { keyId: '', secret: '', sessionKey: '', sessionToken: '' }

export function readCredentials(): Credentials {
  try {
    return { ...NO_CREDENTIALS, ...JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '{}') }
  } catch {
    return NO_CREDENTIALS
  }
}

/** Stores the credentials for this tab. With a LIVE key, nothing is stored. */
export function storeCredentials(credentials: Credentials): void {
  try {
    if (isLiveKey(credentials.keyId) || isLiveKey(credentials.sessionKey)) sessionStorage.removeItem(STORAGE_KEY)
    else sessionStorage.setItem(STORAGE_KEY, JSON.stringify(credentials))
  } catch {
    // Without storage, the fields are empty after a reload.
  }
}

/** Returns an error message if a key cannot be used on this page. `prefix` is `VFN` or `VSK`. */
export function findKeyError(key: string, prefix: 'VFN' | 'VSK'): string | undefined {
  if (key === '') return `Enter a TEST key, which starts with ${prefix}_TEST_.`
  if (isLiveKey(key))
    return `This is a LIVE key. This page sends TEST requests only: enter a key that starts with ${prefix}_TEST_.`
  return key.startsWith(`${prefix}_TEST_`) ? undefined : `The key must start with ${prefix}_TEST_.`
}

function isLiveKey(key: string): boolean {
  return /^\s*\w+_LIVE_/i.test(key)
}

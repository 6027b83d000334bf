import type { PasskeyOptions } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { type ApiError, type ApiResponse, api } from './api.ts'

/** Returns whether the browser can use passkeys with options in JSON. */
export function supportsPasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential
}

const CANCELLED: ApiError = {
  status: 0,
  code: 'CANCELLED',
  message: t('No passkey was used. Try again, or choose another way.'),
  details: [],
}

type Json = Record<string, unknown>
const parser = () =>
  PublicKeyCredential as unknown as {
    parseCreationOptionsFromJSON(options: unknown): PublicKeyCredentialCreationOptions
    parseRequestOptionsFromJSON(options: unknown): PublicKeyCredentialRequestOptions
  }

/** Signs a challenge with a passkey, and sends the result to `path`; its options are at `path`/options. */
export async function usePasskey<T>(path: string): Promise<ApiResponse<T>> {
  return runCeremony(`${path}/options`, path, {}, async (options) => {
    const publicKey = parser().parseRequestOptionsFromJSON(options)
    return navigator.credentials.get({ publicKey })
  })
}

/** Creates a passkey in the browser and registers it. */
export async function createPasskey<T>(name: string): Promise<ApiResponse<T>> {
  return runCeremony('/account/passkeys/options', '/account/passkeys', { name }, async (options) => {
    const publicKey = parser().parseCreationOptionsFromJSON(options)
    return navigator.credentials.create({ publicKey })
  })
}

async function runCeremony<T>(
  optionsPath: string,
  path: string,
  fields: Json,
  ask: (options: unknown) => Promise<Credential | null>,
): Promise<ApiResponse<T>> {
  const options = await api<PasskeyOptions>(optionsPath, { method: 'POST' })
  if (!options.ok) return options
  const credential = await ask(options.data.options).catch(() => null) // the person cancelled, or there is no passkey
  if (!credential) return { ok: false, error: CANCELLED }
  const { authenticatorAttachment: _, ...response } = (credential as unknown as { toJSON(): Json }).toJSON()
  return api<T>(path, { body: { ...fields, response } })
}

/** Configuration of a client. Values that are not passed are read from environment variables. */
export interface Configuration {
  /** Base URL of the server, such as `https://verify.example.com`. Default: `ATTESTRY_URL`. */
  baseUrl?: string | undefined
  /** Key ID, `VFN_TEST_…` or `VFN_LIVE_…`, for the partner API. Default: `ATTESTRY_KEY_ID`. */
  keyId?: string | undefined
  /** Secret of the key, `VFN_SK_…`; never sent. Default: `ATTESTRY_SECRET`. */
  secret?: string | undefined
  /** Session key, `VSK_TEST_…` or `VSK_LIVE_…`, to open verification sessions. Default: `ATTESTRY_SESSION_KEY`. */
  sessionKey?: string | undefined
  /** Admin key of the skill catalogue, which operators have. Default: `ADMIN_API_KEY`. */
  adminKey?: string | undefined
}

/** A value of the configuration is missing or unusable. */
export class AttestryConfigurationError extends Error {
  override readonly name = 'AttestryConfigurationError'
}

interface Setting {
  variable: string
  source: string
  /** Start of a valid value. */
  prefix?: RegExp
  format?: string
}

const settings: Record<keyof Configuration, Setting> = {
  baseUrl: {
    variable: 'ATTESTRY_URL',
    source: 'the address that `npm start` prints, such as http://127.0.0.1:8080',
    prefix: /^https?:\/\/./,
    format: 'an http or https URL',
  },
  keyId: {
    variable: 'ATTESTRY_KEY_ID',
    source: '`npm start` prints a demo TEST key; the operator creates others with `attestry key create`',
    prefix: /^VFN_(?!SK_)/,
    format: 'a key ID that starts with VFN_TEST_ or VFN_LIVE_',
  },
  secret: {
    variable: 'ATTESTRY_SECRET',
    source: 'the secret (VFN_SK_…) is printed once, together with its key ID',
    prefix: /^(?!VFN_TEST_|VFN_LIVE_|VSK_|whsec_)/,
    format: 'the secret of the key, which starts with VFN_SK_',
  },
  sessionKey: {
    variable: 'ATTESTRY_SESSION_KEY',
    source: 'the operator creates a session key (VSK_…) with `attestry key create --kind session`',
    prefix: /^VSK_/,
    format: 'a session key that starts with VSK_TEST_ or VSK_LIVE_',
  },
  adminKey: { variable: 'ADMIN_API_KEY', source: 'the server of the operator has it in ADMIN_API_KEY' },
}

/** Returns the configuration with the values of the environment, and rejects unusable values. */
export function readConfiguration(options: Configuration): Configuration {
  const configuration: Configuration = {}
  for (const name of Object.keys(settings) as (keyof Configuration)[]) {
    const { variable, prefix, format } = settings[name]
    const value = options[name] ?? environmentVariable(variable)
    if (value === undefined || value === '') continue
    // Values are sent in headers, which are ASCII; "…" is the usual sign of a placeholder in documentation.
    if (!/^[!-~]+$/.test(value))
      throw new AttestryConfigurationError(
        value.includes('…')
          ? `${name} contains "…": replace the placeholder with the real value (${settings[name].source}).`
          : `${name} contains a space or a character that is not ASCII: copy the value again.`,
      )
    if (prefix && !prefix.test(value))
      throw new AttestryConfigurationError(`${name} (or ${variable}) must be ${format}.`)
    configuration[name] = value
  }
  return { ...configuration, baseUrl: configuration.baseUrl?.replace(/\/+$/, '') }
}

/** Returns a value that a call needs, or throws an error that names the option, the variable and where to get the value. */
export function requireSetting(configuration: Configuration, name: keyof Configuration): string {
  const value = configuration[name]
  if (value) return value
  const { variable, source } = settings[name]
  throw new AttestryConfigurationError(
    `${name} is missing: pass it to new AttestryClient({ ${name}: … }) or set the environment variable ${variable}. Where to get it: ${source}.`,
  )
}

function environmentVariable(name: string): string | undefined {
  try {
    return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[name]
  } catch {
    return undefined // Deno without the permission to read the environment
  }
}

import { isIP } from 'node:net'
import { resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { connectionSettings, parseDatabaseUrl } from './platform/database/connection-settings.ts'
import { readSecretFile } from './platform/secret-file.ts'
import type { TelemetrySettings } from './platform/telemetry/trace.ts'

type Role = 'api' | 'worker'

export interface Config {
  host: string
  port: number
  /** If PUBLIC_URL is not set, this is undefined until the server listens. */
  publicUrl: string | undefined
  dataDir: string
  /** If undefined, the embedded PostgreSQL in `dataDir` is used. */
  databaseUrl: string | undefined
  /** URL of the role that owns the tables, if DATABASE_URL is a role that can only read and write rows. */
  databaseOwnerUrl: string | undefined
  /** URL of PostgreSQL itself, if DATABASE_URL goes through a pooler in transaction mode. */
  databaseDirectUrl: string | undefined
  /** URL of a standby, for requests that may read from it. */
  databaseReplicaUrl: string | undefined
  /** Maximum number of connections that serve requests and background jobs. A process needs a few more. */
  databasePoolSize: number
  redisUrl: string | undefined
  /** If undefined, the admin key and the master key are generated on the first start and stored in `dataDir`. */
  adminKey: string | undefined
  masterKey: Buffer | undefined
  /** If set, the master key was read from this file, which may change while the server runs. */
  masterKeyFile: string | undefined
  /** The email address of the operator that is created if there is none. */
  operatorEmail: string
  smtpUrl: string | undefined
  mailFrom: string
  /** Address that receives delivery reports (bounces), without a name. */
  mailBounce: string | undefined
  /** Secret in the URL that receives delivery reports and complaints by HTTP. */
  mailHookToken: string | undefined
  /** Lower-case addresses, or domains such as `@example.com`, that TEST mode may send emails to. */
  testMailAllow: string[]
  /** Maximum number of emails per Indian day: of one organisation, and to one mailbox from all of them. */
  mailLimits: { perOrganisation: number; perRecipient: number }
  ai: { baseUrl: string; apiKey: string | undefined; model: string; blindCheck?: boolean } | undefined
  requireHttps: boolean
  /** Whether a POST request of the partner API without Idempotency-Key is rejected if its signature was received before. */
  rejectReplays: boolean
  /** IP addresses or CIDR ranges of proxies whose X-Forwarded-* headers are trusted. */
  trustProxy: string[]
  /** Private host names, IP addresses or CIDR ranges that webhooks may be delivered to. */
  webhookAllow: string[]
  /** File with further domains of disposable mailboxes, one per line. */
  disposableDomainsFile: string | undefined
  /** Whether the index of skills is built at its first use: for processes that end soon, such as tests. */
  indexOnDemand: boolean
  /** Whether to reject requests of the busiest callers while the process is overloaded. */
  shedLoad: boolean
  /** Host names under which the server may be called, in addition to the host of `publicUrl`, `localhost` and IP addresses. */
  allowedHosts: string[]
  /** Access to `/metrics`. Without a port or a token, only callers on this machine may read it. */
  metrics: { port: number | undefined; token: string | undefined }
  /** URLs for reports of vulnerabilities, preferred ones first; published in security.txt. */
  securityContacts: string[]
  /** Maximum lifetime of new LIVE keys, which then must have an expiry time. Undefined: they need not expire. */
  keyMaxDays: number | undefined
  backup: {
    /** Encrypts backups. */
    key: Buffer | undefined
    /** Folder, or s3://BUCKET/PREFIX, that backups are written to. */
    to: string | undefined
    /** Cron expression in Indian time; undefined: no backup is made on a schedule. */
    schedule: string | undefined
    /** Number of backups, and their age in days, beyond which old ones are removed. Undefined: unlimited. */
    keepCount: number | undefined
    keepDays: number | undefined
    s3: { endpoint: string; region: string; accessKeyId: string; secretAccessKey: string } | undefined
  }
  /** Export of traces and metrics by OTLP. Undefined: nothing is exported. */
  telemetry: TelemetrySettings | undefined
  roles: Role[]
  /** How long the server, when it is told to stop, reports that it is not ready and still accepts connections. */
  drainSeconds: number
  logLevel: LogLevel
}

/** Long enough for a load balancer that checks `/readyz` every second or two. */
const DEFAULT_DRAIN_SECONDS = 5

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
type LogLevel = (typeof logLevels)[number]

/** Invalid configuration, with one error line per environment variable. */
export class ConfigError extends Error {
  readonly lines: string[]

  constructor(lines: string[]) {
    super(lines.join('\n'))
    this.lines = lines
  }
}

export type Environment = Record<string, string | undefined>

/** Secrets that can be set as a variable, or as a file named by the variable with the suffix `_FILE`. */
const SECRET_VARIABLES = [
  'DATABASE_URL',
  'DATABASE_OWNER_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_REPLICA_URL',
  'REDIS_URL',
  'ADMIN_API_KEY',
  'MASTER_KEY',
  'SMTP_URL',
  'AI_API_KEY',
  'METRICS_TOKEN',
  'BACKUP_KEY',
  'BACKUP_S3_SECRET_ACCESS_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const

/** Reads the configuration; no other code reads the environment. An empty variable counts as unset. */
export function readConfig(environment: Environment, isTerminal = false): Config {
  const errorLines: string[] = []
  const env = readSecretFiles(environment, errorLines)
  const host = env.HOST || '127.0.0.1'
  const config: Config = {
    host: read('HOST', '127.0.0.1', parseHostName, 'a host name or an IP address'),
    port: read('PORT', 8080, wholeNumberParser(0, 65_535), 'a whole number from 0 to 65535'),
    publicUrl: readHttpUrl('PUBLIC_URL', 'https://verify.example.com'),
    dataDir: resolve(env.DATA_DIR || '.attestry'),
    databaseUrl: readDatabaseUrl('DATABASE_URL'),
    databaseOwnerUrl: readDatabaseUrl('DATABASE_OWNER_URL'),
    databaseDirectUrl: readDatabaseUrl('DATABASE_DIRECT_URL'),
    databaseReplicaUrl: readReplicaUrl(),
    databasePoolSize: read('DATABASE_POOL_SIZE', 20, wholeNumberParser(5, 500), 'a whole number from 5 to 500'),
    redisUrl: readSecret('REDIS_URL', urlParser('redis:', 'rediss:'), 'a URL such as redis://host:6379'),
    adminKey: readSecret(
      'ADMIN_API_KEY',
      accessTokenParser(8),
      '8 to 512 printable ASCII characters without spaces (generate it with: openssl rand -hex 24)',
    ),
    masterKey: readSecret('MASTER_KEY', parseMasterKey, MASTER_KEY_FORMAT),
    masterKeyFile: env.MASTER_KEY_FILE || undefined,
    operatorEmail: read('OPERATOR_EMAIL', 'operator@localhost', parseEmail, 'an email address'),
    smtpUrl: readSecret('SMTP_URL', urlParser('smtp:', 'smtps:'), 'a URL such as smtp://user:password@host:587'),
    mailFrom: read(
      'MAIL_FROM',
      'Attestry <no-reply@localhost>',
      parseMailbox,
      'an email address, or a name and an email address such as Attestry <no-reply@example.com>',
    ),
    mailBounce: read('MAIL_BOUNCE', undefined, parseAddress, 'an email address such as bounces@example.com'),
    mailHookToken: readSecret(
      'MAIL_HOOK_TOKEN',
      parseMailHookToken,
      '16 to 128 letters, digits, hyphens or underscores',
    ),
    testMailAllow: read(
      'TEST_MAIL_ALLOW',
      [],
      parseMailAllowList,
      'a comma-separated list of email addresses and domains such as asha@example.com,@example.org',
    ),
    mailLimits: {
      perOrganisation: read(
        'MAIL_ORG_DAILY_CAP',
        1000,
        wholeNumberParser(1, 100_000_000),
        'a whole number from 1 to 100000000',
      ),
      perRecipient: read(
        'MAIL_RECIPIENT_DAILY_CAP',
        20,
        wholeNumberParser(1, 100_000_000),
        'a whole number from 1 to 100000000',
      ),
    },
    ai: readAi(),
    rejectReplays: read('REJECT_REPLAYS', false, parseBoolean, 'true or false'),
    requireHttps: read('REQUIRE_HTTPS', !isLoopback(host), parseBoolean, 'true or false'),
    trustProxy: read('TRUST_PROXY', [], parseAddressRanges, 'a comma-separated list of IP addresses or CIDR ranges'),
    webhookAllow: read(
      'WEBHOOK_ALLOW',
      [],
      parseHostsOrRanges,
      'a comma-separated list of host names, IP addresses or CIDR ranges',
    ),
    disposableDomainsFile: env.DISPOSABLE_DOMAINS_FILE ? resolve(env.DISPOSABLE_DOMAINS_FILE) : undefined,
    indexOnDemand: read('CATALOGUE_INDEX_ON_DEMAND', false, parseBoolean, 'true or false'),
    shedLoad: read('LOAD_SHEDDING', true, parseBoolean, 'true or false'),
    allowedHosts: read('ALLOWED_HOSTS', [], parseHostNames, 'a comma-separated list of host names'),
    metrics: {
      port: read('METRICS_PORT', undefined, wholeNumberParser(1, 65_535), 'a whole number from 1 to 65535'),
      token: readSecret('METRICS_TOKEN', accessTokenParser(16), '16 to 512 printable ASCII characters without spaces'),
    },
    securityContacts: read(
      'SECURITY_CONTACT',
      [],
      parseContacts,
      'a comma-separated list of email addresses and of https:, mailto: or tel: URLs',
    ),
    keyMaxDays: read('KEY_MAX_DAYS', undefined, wholeNumberParser(1, 3650), 'a whole number from 1 to 3650'),
    backup: readBackup(),
    telemetry: readTelemetry(),
    roles: read('ROLES', ['api', 'worker'], parseRoles, 'api, worker, or api,worker'),
    drainSeconds: read(
      'DRAIN_SECONDS',
      isTerminal ? 0 : DEFAULT_DRAIN_SECONDS,
      wholeNumberParser(0, 300),
      'a whole number from 0 to 300',
    ),
    logLevel: read('LOG_LEVEL', isTerminal ? 'warn' : 'info', enumParser(logLevels), `one of ${logLevels.join(', ')}`),
  }
  for (const name of ['DATABASE_OWNER_URL', 'DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL']) {
    if (env[name] && !env.DATABASE_URL)
      errorLines.push(`${name} is set without DATABASE_URL: set DATABASE_URL too, or remove ${name}`)
  }
  if (env.DATABASE_URL) {
    for (const name of ['ADMIN_API_KEY', 'MASTER_KEY']) {
      if (!env[name] && !env[`${name}_FILE`]) errorLines.push(`${name} is not set: it is required with DATABASE_URL`)
    }
  }
  if (errorLines.length > 0) throw new ConfigError(errorLines)
  return config

  function read<T>(name: string, fallback: T, parse: (text: string) => T | undefined, expected: string): T {
    const text = env[name]
    if (!text) return fallback
    const value = parse(text)
    if (value === undefined) errorLines.push(`${name}=${JSON.stringify(text)} is not valid: expected ${expected}`)
    return value ?? fallback
  }

  function readHttpUrl(name: string, example: string): string | undefined {
    const text = env[name]
    if (!text) return undefined
    const value = parseHttpUrl(text)
    if (value === undefined)
      errorLines.push(
        `${name}=${JSON.stringify(redactUrl(text))} is not valid: expected an http or https URL without user name, password, query or fragment, such as ${example}`,
      )
    return value
  }

  function readSecret<T>(name: string, parse: (text: string) => T | undefined, expected: string): T | undefined {
    const text = env[name]
    if (!text) return undefined
    const source = env[`${name}_FILE`] ? `${name}_FILE` : name
    if (text.includes(PLACEHOLDER)) {
      errorLines.push(
        `${source} (value not shown) contains the placeholder ${PLACEHOLDER}: replace it with your own value`,
      )
      return undefined
    }
    const value = parse(text)
    if (value === undefined) errorLines.push(`${source} (value not shown) is not valid: expected ${expected}`)
    return value
  }

  function readDatabaseUrl(name: string): string | undefined {
    const text = env[name]
    const source = env[`${name}_FILE`] ? `${name}_FILE` : name
    if (text && hasOtherHosts(text)) {
      errorLines.push(
        `${source} (value not shown) is not valid: write several hosts before the database, such as postgres://user:password@a:5432,b:5432/database`,
      )
      return undefined
    }
    const url = readSecret(name, parsePostgresUrl, 'a URL such as postgres://user:password@host:5432/database')
    const sessionAttributes =
      url && new URL(connectionSettings(url).connectionString!).searchParams.get('target_session_attrs')
    if (sessionAttributes && !WRITABLE_SESSION_ATTRIBUTES.includes(sessionAttributes))
      errorLines.push(
        `${source} (value not shown) has target_session_attrs=${sessionAttributes}, but the server needs a database that accepts writes: remove the parameter, or set it to read-write`,
      )
    return url
  }

  function readReplicaUrl(): string | undefined {
    const url = readSecret(
      'DATABASE_REPLICA_URL',
      (text) => (parsePostgresUrl(text) && !connectionSettings(text).hosts && !hasOtherHosts(text) ? text : undefined),
      'a URL with one host such as postgres://user:password@replica:5432/database',
    )
    if (url && url === env.DATABASE_URL)
      errorLines.push(
        'DATABASE_REPLICA_URL is the same as DATABASE_URL: set it to the address of a standby, or remove it',
      )
    return url
  }

  function readBackup(): Config['backup'] {
    const region = read('BACKUP_S3_REGION', 'us-east-1', parseRegion, 'a region such as ap-south-1')
    const endpoint = readHttpUrl('BACKUP_S3_ENDPOINT', 'https://s3.ap-south-1.amazonaws.com')
    const accessKeyId = env.BACKUP_S3_ACCESS_KEY_ID
    const secretAccessKey = readSecret('BACKUP_S3_SECRET_ACCESS_KEY', (text) => text, 'a secret access key')
    if (Boolean(accessKeyId) !== Boolean(env.BACKUP_S3_SECRET_ACCESS_KEY))
      errorLines.push('set both BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY, or neither')
    const backup: Config['backup'] = {
      key: readSecret('BACKUP_KEY', parseMasterKey, MASTER_KEY_FORMAT),
      to: read('BACKUP_TO', undefined, parseBackupAddress, 'a folder, or s3://BUCKET/PREFIX'),
      schedule: read('BACKUP_SCHEDULE', undefined, parseCron, 'a cron expression with five fields such as 30 2 * * *'),
      keepCount: read('BACKUP_KEEP_COUNT', undefined, wholeNumberParser(1, 10_000), 'a whole number from 1 to 10000'),
      keepDays: read('BACKUP_KEEP_DAYS', undefined, wholeNumberParser(1, 3650), 'a whole number from 1 to 3650'),
      s3:
        accessKeyId && secretAccessKey
          ? { endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`, region, accessKeyId, secretAccessKey }
          : undefined,
    }
    if (backup.to?.startsWith('s3://') && !(accessKeyId && env.BACKUP_S3_SECRET_ACCESS_KEY))
      errorLines.push(
        'BACKUP_TO names S3 storage, but BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY are not set',
      )
    if (backup.schedule) {
      for (const name of ['BACKUP_KEY', 'BACKUP_TO'])
        if (!env[name] && !env[`${name}_FILE`])
          errorLines.push(`${name} is not set: it is required with BACKUP_SCHEDULE`)
    }
    return backup
  }

  function readTelemetry(): Config['telemetry'] {
    const endpoint = readHttpUrl('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector.internal:4318')
    const headers = readSecret(
      'OTEL_EXPORTER_OTLP_HEADERS',
      parseHeaders,
      'a comma-separated list of NAME=value, such as api-key=secret',
    )
    const settings = {
      headers: headers ?? {},
      serviceName: read('OTEL_SERVICE_NAME', 'attestry', parseServiceName, '1 to 100 letters, digits, dots or hyphens'),
      sampleRatio: read('OTEL_TRACES_SAMPLER_ARG', 1, parseRatio, 'a number from 0 to 1'),
      metricIntervalMs: read(
        'OTEL_METRIC_EXPORT_INTERVAL',
        60_000,
        wholeNumberParser(1000, 3_600_000),
        'a whole number of milliseconds from 1000 to 3600000',
      ),
    }
    return endpoint === undefined ? undefined : { endpoint, ...settings }
  }

  function readAi(): Config['ai'] {
    const baseUrl = readHttpUrl('AI_BASE_URL', 'https://api.example.com/v1')
    if (!env.AI_BASE_URL) {
      for (const name of ['AI_API_KEY', 'AI_MODEL', 'AI_BLIND_CHECK']) {
        if (env[name]) errorLines.push(`${name} is set without AI_BASE_URL: set AI_BASE_URL too, or remove ${name}`)
      }
      return undefined
    }
    if (!env.AI_MODEL) errorLines.push('AI_MODEL is not set: it is required with AI_BASE_URL')
    const blindCheck = read('AI_BLIND_CHECK', false, parseBoolean, 'true or false')
    return baseUrl === undefined
      ? undefined
      : {
          baseUrl,
          apiKey: readSecret('AI_API_KEY', (text) => text, 'an API key'),
          model: env.AI_MODEL ?? '',
          ...(blindCheck ? { blindCheck } : {}),
        }
  }
}

/** Returns the environment with the secrets from files, and adds an error for each file that cannot be used. */
function readSecretFiles(environment: Environment, errorLines: string[]): Environment {
  const env = { ...environment }
  for (const name of SECRET_VARIABLES) {
    const path = env[`${name}_FILE`]
    if (!path) continue
    if (env[name]) {
      errorLines.push(`${name} and ${name}_FILE are both set: remove one of them`)
      continue
    }
    try {
      env[name] = readSecretFile(path)
    } catch (error) {
      errorLines.push(`${name}_FILE=${JSON.stringify(path)} ${fileErrorText(error as NodeJS.ErrnoException)}`)
    }
  }
  return env
}

function fileErrorText({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'does not exist'
  if (code === 'EACCES') return 'cannot be read: permission denied'
  return code === undefined ? message : `cannot be read: ${message}`
}

/** Reads the master key from MASTER_KEY_FILE again, after the file may have changed. */
export function readMasterKeyFile(path: string): Buffer {
  const masterKey = parseMasterKey(readSecretFile(path))
  if (!masterKey)
    throw new ConfigError([`MASTER_KEY_FILE (value not shown) is not valid: expected ${MASTER_KEY_FORMAT}`])
  return masterKey
}

/** The placeholder for secrets in the documentation. */
const PLACEHOLDER = '…'

const MASTER_KEY_FORMAT = '32 bytes in base64 (generate it with: openssl rand -base64 32)'

function wholeNumberParser(min: number, max: number) {
  return (text: string) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    return number >= min && number <= max ? number : undefined
  }
}

function enumParser<const T extends readonly string[]>(values: T) {
  return (text: string): T[number] | undefined => values.find((value) => value === text)
}

function parseHostName(text: string) {
  return isIP(text) || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text) ? text : undefined
}

function parseHttpUrl(text: string) {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) return undefined
  if (url.username || url.password) return undefined
  return text.replace(/\/+$/, '')
}

/**
 * Replaces the parts of a URL that can contain credentials: user name and password, query and fragment. Also accepts a text that is
 * not a valid URL, so everything before the last @ is replaced.
 */
function redactUrl(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1***@').replace(/([?#]).*/s, '$1***')
}

/** Values of `target_session_attrs` that a primary fulfils. The server accepts no other databases, whether or not it is set. */
const WRITABLE_SESSION_ATTRIBUTES = ['any', 'read-write', 'primary']

/** Detects lists of hosts that are not supported: libpq's `?host=a,b`, and several URLs separated by commas. */
function hasOtherHosts(text: string): boolean {
  const query = /\?[^#]*/.exec(text)?.[0] ?? ''
  return (
    new URLSearchParams(query).getAll('host').some((host) => host.includes(',')) || /,postgres(ql)?:\/\//i.test(text)
  )
}

function parsePostgresUrl(text: string) {
  return parseDatabaseUrl(text) && text
}

/** Accepts one URL, or several separated by commas (nodes of a Redis cluster). */
function urlParser(...protocols: string[]) {
  return (text: string) => {
    const urls = text.split(',').map((part) => URL.parse(part))
    return urls.every((url) => url && protocols.includes(url.protocol)) ? text : undefined
  }
}

function accessTokenParser(minLength: number) {
  return (text: string) => (/^[\x21-\x7e]{8,512}$/.test(text) && text.length >= minLength ? text : undefined)
}

function parseMasterKey(text: string) {
  const bytes = Buffer.from(text, 'base64')
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) && bytes.length === 32 ? bytes : undefined
}

function parseEmail(text: string) {
  return text.length <= 254 &&
    /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text)
    ? text
    : undefined
}

function parseMailbox(text: string) {
  const address = /^[^<>\r\n]*<([^<>\s]+)>$/.exec(text)?.[1] ?? text
  return /^[^\s@<>]+@[^\s@<>]+$/.test(address) ? text : undefined
}

function parseAddress(text: string) {
  return /^[^\s@<>+]+@[^\s@<>]+$/.test(text) ? text : undefined
}

function parseRegion(text: string) {
  return /^[a-z0-9-]{1,64}$/.test(text) ? text : undefined
}

function parseBackupAddress(text: string) {
  if (/^s3:\/\//.test(text))
    return /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w!.*'()/-]*)?$/.test(text) ? text : undefined
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? undefined : resolve(text)
}

function parseCron(text: string) {
  return /^\s*([\d*,/-]+\s+){2}([\d*,/-]+\s+)([\dA-Za-z*,/-]+\s+)([\dA-Za-z*,/#-]+)\s*$/.test(text)
    ? text.trim()
    : undefined
}

function parseMailHookToken(text: string) {
  return /^[\w-]{16,128}$/.test(text) ? text : undefined
}

function parseMailAllowList(text: string) {
  const entries = text.split(',').map((entry) => entry.trim().toLowerCase())
  return entries.every((entry) => /^[^\s@<>]*@[^\s@<>]+$/.test(entry)) ? entries : undefined
}

/** Returns contacts as URLs. Plain http is not accepted: RFC 9116 requires https. */
function parseContacts(text: string) {
  const contacts = text.split(',').map((part) => parseContact(part.trim()))
  return contacts.includes(undefined) ? undefined : (contacts as string[])
}

function parseContact(text: string) {
  if (!/^[\x21-\x7e]+$/.test(text)) return undefined
  if (/^[^\s@<>:/]+@[^\s@<>:/]+$/.test(text)) return `mailto:${text}`
  const url = URL.parse(text)
  if (!url || url.username || url.password) return undefined
  const isComplete =
    url.protocol === 'https:' ||
    (url.protocol === 'mailto:' && url.pathname.includes('@')) ||
    (url.protocol === 'tel:' && /\d/.test(url.pathname))
  return isComplete ? text : undefined
}

/** Parses HTTP headers in the format of OpenTelemetry: values are percent-encoded. */
function parseHeaders(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {}
  for (const part of text.split(',')) {
    const [, name, value] = /^\s*([\w.-]+)=([\x21-\x7e ]*)$/.exec(part) ?? []
    if (!name || value === undefined) return undefined
    try {
      headers[name.toLowerCase()] = decodeURIComponent(value.trim())
    } catch {
      return undefined
    }
  }
  return headers
}

function parseServiceName(text: string) {
  return /^[A-Za-z0-9.-]{1,100}$/.test(text) ? text : undefined
}

function parseRatio(text: string) {
  const ratio = /^[01]?(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN
  return ratio >= 0 && ratio <= 1 ? ratio : undefined
}

function parseBoolean(text: string) {
  if (/^(true|1|yes|on)$/i.test(text)) return true
  if (/^(false|0|no|off)$/i.test(text)) return false
  return undefined
}

function parseAddressRanges(text: string) {
  const ranges = text.split(',').map((range) => range.trim())
  return ranges.every((range) => isIP(range) !== 0 || isCidr(range)) ? ranges : undefined
}

function parseHostNames(text: string) {
  const names = text.split(',').map((name) => name.trim())
  return names.every((name) => parseHostName(name) !== undefined) ? names : undefined
}

function parseHostsOrRanges(text: string) {
  const entries = text.split(',').map((entry) => entry.trim())
  return entries.every((entry) => parseHostName(entry) !== undefined || isCidr(entry)) ? entries : undefined
}

function isCidr(text: string) {
  // Short forms such as 10.1/16 mean 10.0.0.0/16 to some programs and 10.1.0.0/16 to others.
  return ipaddr.isValidCIDR(text) && isIP(text.split('/')[0]!) !== 0
}

function parseRoles(text: string): Role[] | undefined {
  const parseRole = enumParser(['api', 'worker'])
  const roles = text.split(',').map((name) => parseRole(name.trim()))
  return roles.includes(undefined) ? undefined : [...new Set(roles as Role[])]
}

/** Returns whether only this machine can reach the server. A public URL or a trusted proxy means that requests are forwarded to it. */
export function isLocalOnly({
  host,
  publicUrl,
  trustProxy,
}: Pick<Config, 'host' | 'publicUrl' | 'trustProxy'>): boolean {
  const publicHost = publicUrl === undefined ? host : new URL(publicUrl).hostname.replace(/^\[|\]$/g, '')
  return isLoopback(host) && isLoopback(publicHost) && trustProxy.length === 0
}

/** Returns the URL at which this machine reaches a server that listens on the host and port. */
export function localUrl(host: string, port: number): string {
  if (isAnyAddress(host)) return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Returns whether a server with this host listens on all network interfaces. */
export function isAnyAddress(host: string): boolean {
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'unspecified'
}

export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback'
}

export interface ConnectionSettings {
  connectionString?: string
  host?: string
  port?: number
  user?: string
  password?: string
  database?: string
  /** The servers of a URL that names several, of which one is the primary. `connectionString` names the first one. */
  hosts?: DatabaseHost[]
}

/** One of several database servers. */
export interface DatabaseHost {
  host: string
  port: number
  /** The URL with this host only. */
  connectionString: string
}

const DEFAULT_PORT = 5432
const URL_PARTS = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#@]*)(.*)$/is

/** Parses the URL of a database. It can name several hosts: `postgres://user:password@a:5432,b:5433/database`. */
export function parseDatabaseUrl(url: string): ConnectionSettings | undefined {
  const [, scheme, credentials, hostList, rest] = URL_PARTS.exec(url) ?? []
  if (scheme === undefined) return undefined
  const names = hostList!.split(',')
  const hosts = names.map((name) => parseHost(`${scheme}${credentials}${name}${rest}`))
  if (!hosts.every((host) => host !== undefined)) return undefined
  if (hosts.length === 1) return { connectionString: url }
  return hosts.every(({ host }) => host !== '') ? { connectionString: hosts[0]!.connectionString, hosts } : undefined
}

function parseHost(connectionString: string): DatabaseHost | undefined {
  const url = URL.parse(connectionString)
  if (!url) return undefined
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    connectionString,
  }
}

/** Returns the settings of a URL of the configuration, which has been checked. */
export function connectionSettings(url: string): ConnectionSettings {
  const settings = parseDatabaseUrl(url)
  if (!settings) throw new Error('the URL of the database is not valid')
  return settings
}

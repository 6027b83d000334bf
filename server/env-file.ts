import { existsSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { ConfigError, type Environment } from './config.ts'

/** Files that are looked for in the current folder. */
const FILE_NAMES = ['attestry.env', '.env']
/** Variables that decide which data a process works on. They must not differ between the environment and the file. */
const DATABASE_VARIABLES = [
  'DATABASE_URL',
  'DATABASE_URL_FILE',
  'DATABASE_OWNER_URL',
  'DATABASE_OWNER_URL_FILE',
  'DATABASE_DIRECT_URL',
  'DATABASE_DIRECT_URL_FILE',
  'DATABASE_REPLICA_URL',
  'DATABASE_REPLICA_URL_FILE',
  'DATA_DIR',
  'MASTER_KEY',
  'MASTER_KEY_FILE',
]
/** A `.env` with one of these variables configures a server. Others can belong to another program, or to a client of the API. */
const SERVER_VARIABLES = [...DATABASE_VARIABLES, 'ADMIN_API_KEY', 'ADMIN_API_KEY_FILE']
const EXTERNAL_DATABASE_VARIABLES = ['DATABASE_URL', 'DATABASE_URL_FILE']
const GROUP_OR_OTHERS_WRITE = 0o022
const OTHERS_READ = 0o004

export interface LoadedEnvironment {
  environment: Environment
  /** Path of the file whose variables were added, if there is one. */
  file: string | undefined
}

/**
 * Returns the environment with the variables of the environment file: the one that is named by `envFile` or ATTESTRY_ENV_FILE, otherwise
 * `attestry.env` or `.env` in the current folder. A variable of the environment overrides one of the file, except if the two would choose
 * different databases or keys.
 */
export function loadEnvironment(environment: Environment, envFile?: string): LoadedEnvironment {
  const namedFile = envFile ?? (environment.ATTESTRY_ENV_FILE || undefined)
  const file = namedFile === undefined ? findFile() : resolve(namedFile)
  if (file === undefined) return { environment, file }
  const variables = readEnvFile(file)
  const errorLines = listConflicts(environment, variables, file)
  if (errorLines.length > 0) throw new ConfigError(errorLines)
  const ownVariables = Object.fromEntries(Object.entries(environment).filter(([, value]) => value))
  return { environment: { ...variables, ...ownVariables }, file }
}

/** Reads the variables of a file that can contain secrets. Throws if the file is missing, or if other users could read or change it. */
export function readEnvFile(path: string): Environment {
  let text: string
  try {
    const { mode } = statSync(path)
    if (mode & (GROUP_OR_OTHERS_WRITE | OTHERS_READ))
      throw new ConfigError([
        `${path} can contain secrets and can be read or changed by other users; run: chmod 600 ${path}`,
      ])
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    throw new ConfigError([
      code === 'ENOENT'
        ? `the environment file ${path} does not exist; create it with "attestry init", or name another file with --env-file`
        : `the environment file ${path} cannot be read: ${message}`,
    ])
  }
  const invalidLine = text.split('\n').findIndex((line) => !/^\s*(#.*|(export\s+)?[A-Za-z_]\w*\s*=.*)?\r?$/.test(line))
  if (invalidLine >= 0)
    throw new ConfigError([
      `${path}, line ${invalidLine + 1} is not valid: expected NAME=value, or a comment that starts with #`,
    ])
  return parseEnv(text) as Environment
}

/** Returns the file of the current folder, if there is one. Throws if there are two, because either could be meant. */
function findFile(): string | undefined {
  const files = FILE_NAMES.map((name) => resolve(name)).filter((path) => existsSync(path) && configuresServer(path))
  if (files.length > 1)
    throw new ConfigError([
      `${files.join(' and ')} both configure a server; name the one to use with --env-file or ATTESTRY_ENV_FILE, or remove the other`,
    ])
  return files[0]
}

/** Returns whether a file configures a server. A `.env` with the key of an API client only does not. */
function configuresServer(path: string): boolean {
  if (!path.endsWith('/.env')) return true
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return true // reading it again reports the error
  }
  return Object.keys(parseEnv(text)).some((name) => SERVER_VARIABLES.includes(name))
}

function listConflicts(environment: Environment, variables: Environment, file: string): string[] {
  const advice = 'unset the variable, or name another file with --env-file'
  const errorLines = DATABASE_VARIABLES.filter(
    (name) => environment[name] && variables[name] && environment[name] !== variables[name],
  ).map((name) => `${name} has different values in the environment and in ${file}; ${advice}`)
  const externalInFile = EXTERNAL_DATABASE_VARIABLES.find((name) => variables[name])
  const externalInEnvironment = EXTERNAL_DATABASE_VARIABLES.find((name) => environment[name])
  if (environment.DATA_DIR && externalInFile && !variables.DATA_DIR && !externalInEnvironment)
    errorLines.push(
      `the environment sets DATA_DIR, the folder of the embedded database, and ${file} sets ${externalInFile}; ${advice}`,
    )
  for (const name of EXTERNAL_DATABASE_VARIABLES) {
    const other = EXTERNAL_DATABASE_VARIABLES.find((each) => each !== name)!
    if (environment[name] && variables[other])
      errorLines.push(`the environment sets ${name}, and ${file} sets ${other}; ${advice}`)
  }
  return errorLines
}

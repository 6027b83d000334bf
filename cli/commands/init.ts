import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Command } from 'commander'
import { type Environment, readConfig } from '../../server/config.ts'
import { readEnvFile } from '../../server/env-file.ts'
import { createPrivateFile, loadLocalSecrets } from '../../server/platform/local-secrets.ts'
import { examples } from '../examples.ts'
import { print } from '../print.ts'

interface InitOptions {
  databaseUrl?: string
  databaseOwnerUrl?: string
  databaseDirectUrl?: string
  dataDir?: string
  publicUrl?: string
  operatorEmail?: string
}

const DEFAULT_FILE = 'attestry.env'

export function initCommand(): Command {
  return new Command('init')
    .description(
      'Write the configuration and new secrets to attestry.env, or to the file that --env-file names, once: an existing file is never changed',
    )
    .option('--database-url <url>', 'URL of an external PostgreSQL; without it, the embedded database is used')
    .option('--database-owner-url <url>', 'URL of the role that owns the tables, if it is a different one')
    .option('--database-direct-url <url>', 'URL of PostgreSQL itself, if the database URL is that of a pooler')
    .option('--data-dir <folder>', 'folder of the embedded database (default: .attestry)')
    .option('--public-url <url>', 'URL under which people reach the server, such as https://verify.example.com')
    .option('--operator-email <email>', 'email address of the first operator')
    .addHelpText(
      'after',
      '\nSecrets on the command line can be read by other users of this machine while the command runs. The variables DATABASE_URL,\nDATABASE_OWNER_URL, DATABASE_DIRECT_URL, ADMIN_API_KEY, MASTER_KEY and BACKUP_KEY of the environment are taken over instead.',
    )
    .addHelpText(
      ...examples(
        'init',
        'init --database-url postgres://attestry@db.internal/attestry --public-url https://verify.example.com --operator-email you@example.com',
      ),
    )
    .action(runInit)
}

async function runInit(options: InitOptions, command: Command): Promise<void> {
  const path = resolve(
    command.optsWithGlobals<{ envFile?: string }>().envFile ?? (process.env.ATTESTRY_ENV_FILE || DEFAULT_FILE),
  )
  const wanted = chosenVariables(options, process.env)
  if (existsSync(path)) return reportExisting(command, path, wanted)
  const variables = withSecrets(wanted, process.env)
  const { databaseUrl, dataDir } = readConfig(variables) // throws a ConfigError with one line per invalid value
  await mkdir(dirname(path), { recursive: true })
  if (!databaseUrl) await loadLocalSecrets(dataDir)
  if (!(await createPrivateFile(path, fileText(variables)))) return reportExisting(command, path, wanted)
  const secretsPath = databaseUrl ? path : `${dataDir}/master-key`
  print(command, { created: true, path, secrets: secretsPath }, () =>
    [
      `Wrote ${path}. Only you can read it.`,
      '',
      'Store copies of two keys in a safe place that is not on this machine and not next to the backups, such as a password manager:',
      `  the master key, ${databaseUrl ? `MASTER_KEY in ${path}` : `in ${secretsPath}`}: without it, the server cannot read its secrets`,
      `  the backup key, BACKUP_KEY in ${path}: without it, backups cannot be restored`,
      '',
      path === resolve(DEFAULT_FILE)
        ? 'The server and the attestry command find this file when they are started in this folder.'
        : `Name the file when you start the server or run a command: --env-file ${path}, or ATTESTRY_ENV_FILE=${path}.`,
    ].join('\n'),
  )
}

/** Returns the variables that the options and the environment set. Options come first. */
function chosenVariables(options: InitOptions, environment: Environment): Environment {
  const databaseUrl = options.databaseUrl ?? environment.DATABASE_URL
  const dataDir = options.dataDir ?? (databaseUrl ? undefined : environment.DATA_DIR)
  const variables: Environment = {
    DATABASE_URL: databaseUrl,
    DATABASE_OWNER_URL: options.databaseOwnerUrl ?? environment.DATABASE_OWNER_URL,
    DATABASE_DIRECT_URL: options.databaseDirectUrl ?? environment.DATABASE_DIRECT_URL,
    DATA_DIR: dataDir && resolve(dataDir),
    PUBLIC_URL: options.publicUrl ?? environment.PUBLIC_URL,
    OPERATOR_EMAIL: options.operatorEmail ?? environment.OPERATOR_EMAIL,
  }
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value))
}

/** Adds the secrets of an external database, or the folder of the embedded one, which has the secrets in files. */
function withSecrets(variables: Environment, environment: Environment): Environment {
  const backupKey = environment.BACKUP_KEY || randomBytes(32).toString('base64')
  if (!variables.DATABASE_URL) return { DATA_DIR: resolve('.attestry'), ...variables, BACKUP_KEY: backupKey }
  return {
    ...variables,
    ADMIN_API_KEY: environment.ADMIN_API_KEY || `adm_${randomBytes(32).toString('base64url')}`,
    MASTER_KEY: environment.MASTER_KEY || randomBytes(32).toString('base64'),
    BACKUP_KEY: backupKey,
  }
}

function fileText(variables: Environment): string {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${quote(value!)}`)
  return [
    '# Configuration and secrets of an Attestry server. Keep this file private: it is not in the backups.',
    '# All variables are described in README.md, section "Configure it".',
    ...lines,
  ].join('\n')
}

/** Quotes a value so that the server, a shell and systemd read it in the same way. */
function quote(value: string): string {
  if (/^[\w@%+=:,./-]*$/.test(value)) return value
  if (value.includes("'"))
    throw new Error(`a value contains a single quote, which the file cannot contain; encode it as %27`)
  return `'${value}'`
}

/** Reports that the file exists. Throws if the options ask for other values than those in the file. */
function reportExisting(command: Command, path: string, wanted: Environment): void {
  const existing = readEnvFile(path)
  const differing = Object.keys(wanted).filter((name) => existing[name] !== wanted[name])
  if (differing.length > 0)
    throw new Error(
      `${path} exists and was not changed, but its ${differing.join(', ')} ${differing.length === 1 ? 'differs' : 'differ'} from the values of this command; edit the file, or name another one with --env-file`,
    )
  print(command, { created: false, path }, () => `${path} exists and was not changed.`)
}

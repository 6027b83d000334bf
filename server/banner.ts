import { relative, resolve } from 'node:path'
import type { DemoSetup } from './access/demo.ts'
import { demoKeysPath } from './access/demo-files.ts'
import { isAnyAddress } from './config.ts'
import type { Context } from './context.ts'
import type { OperatorLink } from './operator-link.ts'

interface BannerOptions {
  isTerminal: boolean
  /** Whether the operator has set PUBLIC_URL. */
  hasPublicUrl: boolean
  operatorLink?: OperatorLink | undefined
}

/**
 * Returns the text printed when the server has started. Secrets must not accumulate in log files: without a terminal, the text has
 * neither the sign-in link nor, after the first start, the secrets of the demo organisation, which protect only TEST data.
 */
export function startupBanner(
  { config }: Pick<Context, 'config'>,
  demo: DemoSetup | undefined,
  { isTerminal, hasPublicUrl, operatorLink }: BannerOptions,
): string {
  const url = config.publicUrl!
  const lines = ['', `  Attestry is running at ${url}`]
  if (isAnyAddress(config.host)) {
    lines.push('  It listens on all network interfaces of this machine.')
    if (!hasPublicUrl)
      lines.push(
        '  Links in emails work on this machine only: to change this, set PUBLIC_URL to the URL of the server.',
      )
  }
  lines.push('')
  lines.push(`    Console         ${url}/console`)
  if (operatorLink) {
    const { email, url: signInLink, path } = operatorLink
    lines.push(
      `    Sign in         ${signInLink ?? `with the link in ${displayPath(path!)}`}`,
      `                    (as ${email}; valid once, for one hour)`,
    )
  }
  lines.push(`    Documentation   ${url}/docs`, `    Try the API     ${url}/docs/try`)
  if (!config.databaseUrl) lines.push(`    Data            ${displayPath(config.dataDir)} (embedded PostgreSQL)`)
  if (demo) {
    const { key_id, secret, session_key } = demo.keys
    const showsSecrets = isTerminal || demo.created
    lines.push(
      '',
      `  Keys of the demo organisation, for TEST data only (stored in ${displayPath(demoKeysPath(config.dataDir))}):`,
      '',
      `    Partner key     ${key_id}`,
      ...(showsSecrets ? [`    Secret          ${secret}`, `    Session key     ${session_key}`] : []),
      '',
      '  To send a signed request, run this in another terminal in this folder:',
      '',
      `    ${dataDirVariable(config.dataDir)}npx attestry request GET /shifts`,
    )
  }
  lines.push('', '  Press Ctrl-C to stop.', '')
  return `${lines.join('\n')}\n`
}

/** Returns the environment variable that a command needs to use the same data. */
function dataDirVariable(dataDir: string): string {
  if (dataDir === resolve('.attestry')) return ''
  return `DATA_DIR=${/^[\w./-]+$/.test(dataDir) ? dataDir : `'${dataDir.replaceAll("'", "'\\''")}'`} `
}

function displayPath(path: string) {
  const relativePath = relative(process.cwd(), path)
  return relativePath.startsWith('..') ? path : relativePath
}

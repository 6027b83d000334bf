import { relative, resolve } from 'node:path'
import { type Demo, demoFile } from './access/demo.ts'
import type { Context } from './context.ts'

/** What a person sees when the server is up. The link, where there is one, signs the operator in once. */
export function banner(
  { config }: Pick<Context, 'config'>,
  demo: Demo | undefined,
  terminal: boolean,
  link?: string,
): string {
  const url = config.publicUrl!
  const lines = ['', `  Attestry is running at ${url}`, '']
  lines.push(`    Console         ${url}/console`)
  if (link) lines.push(`    Sign in         ${link}`, '                    (as the operator: once, within the hour)')
  lines.push(`    API reference   ${url}/docs/`)
  if (!config.databaseUrl) lines.push(`    Data            ${shown(config.dataDir)} (embedded PostgreSQL)`)
  if (demo) {
    const { key_id, secret, session_key } = demo.keys
    // Shown when they are made and to a person at a terminal; a log file that collects restarts must not collect them.
    const secrets = demo.fresh || terminal
    lines.push(
      '',
      `  Keys of the demo organisation, for TEST data only (kept in ${shown(demoFile(config.dataDir))}):`,
      '',
      `    Partner key     ${key_id}`,
      ...(secrets ? [`    Secret          ${secret}`, `    Session key     ${session_key}`] : []),
      '',
      '  A first signed call, to paste into another terminal in this folder:',
      '',
      `    ${whereabouts(config.dataDir)}npx attestry request GET /shifts`,
    )
  }
  lines.push('', '  Ctrl-C stops it.', '')
  return `${lines.join('\n')}\n`
}

/** What a command needs to find the same data. */
function whereabouts(dataDir: string): string {
  if (dataDir === resolve('.attestry')) return ''
  return `DATA_DIR=${/^[\w./-]+$/.test(dataDir) ? dataDir : `'${dataDir.replaceAll("'", "'\\''")}'`} `
}

function shown(path: string) {
  const short = relative(process.cwd(), path)
  return short.startsWith('..') ? path : short
}

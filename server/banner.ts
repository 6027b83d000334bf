import { relative } from 'node:path'
import { type DemoKeys, demoFile } from './access/demo.ts'
import type { Context } from './context.ts'

/** What a person sees when the server is up. */
export function banner({ config }: Pick<Context, 'config'>, demo: DemoKeys | undefined): string {
  const url = config.publicUrl!
  const lines = ['', `  Attestry is running at ${url}`, '']
  lines.push(`    API reference   ${url}/docs/`)
  if (!config.databaseUrl) lines.push(`    Data            ${shown(config.dataDir)} (embedded PostgreSQL)`)
  if (demo) {
    lines.push(
      '',
      `  Keys of the demo organisation, for TEST data only (kept in ${shown(demoFile(config.dataDir))}):`,
      '',
      `    Partner key     ${demo.key_id}`,
      `    Secret          ${demo.secret}`,
      `    Session key     ${demo.session_key}`,
      '',
      '  A first signed call, to paste into another terminal in this folder:',
      '',
      '    npx attestry request GET /shifts',
    )
  }
  lines.push('', '  Ctrl-C stops it.', '')
  return `${lines.join('\n')}\n`
}

function shown(path: string) {
  const short = relative(process.cwd(), path)
  return short.startsWith('..') ? path : short
}

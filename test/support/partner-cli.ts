import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from './cleanup.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface PartnerCli {
  /** Contains nothing but the built program and the profiles; it is the current folder of the commands. */
  folder: string
  env: NodeJS.ProcessEnv
  /** Starts a command. */
  start(...args: string[]): ReturnType<typeof spawn> & { output(): string; errors(): string }
  /** Runs a command until it exits. */
  run(args: string[], input?: string): Promise<{ code: number | null; output: string; errors: string }>
}

/** Builds the package @attestry/cli outside the checkout, where it finds neither node_modules nor a deployment. */
export function buildPartnerCli(t: Cleanup): PartnerCli {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-cli-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const build = spawnSync(process.execPath, [join(root, 'cli/build.mjs'), join(folder, 'program')], {
    encoding: 'utf8',
  })
  if (build.status !== 0) throw new Error(`cli/build.mjs: ${build.stderr}`)
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: folder, XDG_CONFIG_HOME: join(folder, 'config') }

  const cli: PartnerCli = {
    folder,
    env,
    start(...args) {
      const child = spawn(process.execPath, [join(folder, 'program/attestry.js'), ...args], { cwd: folder, env })
      let output = ''
      let errors = ''
      child.stdout.on('data', (text) => {
        output += text
      })
      child.stderr.on('data', (text) => {
        errors += text
      })
      t.after(() => void child.kill('SIGKILL'))
      return Object.assign(child, { output: () => output, errors: () => errors })
    },
    async run(args, input = '') {
      const child = cli.start(...args)
      child.stdin!.end(input)
      const [code] = (await once(child, 'close')) as [number | null]
      return { code, output: child.output(), errors: child.errors() }
    },
  }
  return cli
}

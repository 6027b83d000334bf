import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { nodeOptions } from './node-options.ts'

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url))

export interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a CLI command with nothing but the given variables, PATH, HOME and the folder of compiled modules in its environment. */
export async function runCommand(
  args: string[],
  { cwd, env = {} }: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<CommandResult> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [...nodeOptions, MAIN, ...args], {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
  })
  const result: CommandResult = { code: null, stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk) => {
      result[name] += chunk
    })
  const [code] = (await once(child, 'close')) as [number | null]
  return { ...result, code }
}

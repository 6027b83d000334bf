import { spawnSync } from 'node:child_process'

/** Runs npm, the one that started this script if there is one, and returns what it printed. */
export function runNpm(root: string, args: string[]): { stdout: string; stderr: string } {
  const npm = process.env.npm_execpath
  const [command, commandArgs] = npm?.endsWith('.js') ? [process.execPath, [npm, ...args]] : ['npm', args]
  const { stdout, stderr, error } = spawnSync(command, commandArgs, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    // Options of the npm that started this script, such as --json, must not change the output.
    env: Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^npm_(config_(json|omit)|package)/.test(name)),
    ),
  })
  if (error) throw new Error(`starting npm failed: ${error.message}`)
  return { stdout, stderr }
}

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Packs the SDK as for publication, in a copy of its folder so that the checkout does not change; returns the tarball's path. */
export function packSdk(folder: string): string {
  const copy = join(folder, 'workspace', 'sdk')
  mkdirSync(copy, { recursive: true })
  cpSync(join(root, 'sdk'), copy, { recursive: true, filter: (path) => !path.endsWith('/dist') })
  symlinkSync(join(root, 'node_modules'), join(folder, 'workspace', 'node_modules')) // contains the compiler
  const [packed] = JSON.parse(npm(copy, 'pack', '--json', '--pack-destination', folder)) as { filename: string }[]
  return join(folder, packed!.filename)
}

/** Installs the packed SDK into a folder. */
export function installSdk(folder: string, tarball: string): void {
  npm(folder, 'install', '--no-save', '--no-package-lock', '--offline', tarball)
}

/** Compiles the SDK into the node_modules of a folder, which is faster than packing and installing it. */
export function buildSdk(folder: string): void {
  const target = join(folder, 'node_modules/@attestry/sdk')
  mkdirSync(target, { recursive: true })
  cpSync(join(root, 'sdk/package.json'), join(target, 'package.json'))
  const compiler = join(root, 'node_modules/.bin/tsc')
  const { status, stdout } = spawnSync(compiler, ['-p', join(root, 'sdk'), '--outDir', join(target, 'dist')], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`tsc: ${stdout}`)
}

function npm(cwd: string, ...args: string[]): string {
  // The settings of the outer `npm test` must not reach the inner npm.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))
  const { status, stdout, stderr } = spawnSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    env,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`npm ${args[0]}: ${stderr}`)
  return stdout.slice(Math.max(0, stdout.search(/^\[/m))) // the output of the build comes first
}

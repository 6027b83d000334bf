import { spawnSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'

interface NodeVersion {
  name: string
  /** PATH with which `node` starts this version. */
  path: string
}

const bundled: NodeVersion = {
  name: `the bundled Node ${process.version}`,
  path: [dirname(process.execPath), process.env.PATH].join(delimiter),
}

/** PATH without node_modules: `node` is the version of the machine, such as Node 20, and not the one that this project installs. */
const machinePath = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)

/** The Node versions on which programs of the documentation run: the bundled one and, if it differs, that of the machine. */
export const nodeVersions: NodeVersion[] = [bundled, ...findMachineVersion()]

function findMachineVersion(): NodeVersion[] {
  const env = { ...process.env, PATH: machinePath }
  const { status, stdout } = spawnSync('node', ['--version'], { env, encoding: 'utf8' })
  const version = stdout?.trim()
  if (status !== 0 || version === process.version) return []
  return [{ name: `Node ${version}`, path: machinePath }]
}

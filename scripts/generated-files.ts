import { spawnSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/**
 * Writes a generated file or, with the option --check of the running script, reports that the file is out of date and sets a
 * failing exit code. `command` is the npm command that generates the file.
 */
export async function writeOrCheck(path: string, text: string, command: string): Promise<void> {
  const file = new URL(`../${path}`, import.meta.url)
  if (!process.argv.includes('--check')) {
    await mkdir(new URL('.', file), { recursive: true })
    await writeFile(file, text)
  } else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
    console.error(`${path} is not up to date: run npm run ${command} and commit it`)
    process.exitCode = 1
  }
}

/** Formats TypeScript with the formatter of the project. */
export function formatCode(path: string, text: string): string {
  const biome = fileURLToPath(new URL('../node_modules/@biomejs/biome/bin/biome', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [biome, 'format', `--stdin-file-path=${path}`], {
    input: text,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`Formatting ${path} failed: ${stderr}`)
  return stdout
}

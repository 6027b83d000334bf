import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const web = fileURLToPath(new URL('.', import.meta.url))
const pictures = join(web, '..', 'docs', 'pictures')
const output = join(web, 'dist')

/** Hash over every source file and dependency version that the built pages depend on. */
export function sourcesHash(): string {
  const hash = createHash('sha256')
  const files = globSync('**/*.{ts,tsx,css,html,json,svg,txt,woff2}', { cwd: web })
  for (const file of files.filter((name) => !name.startsWith('dist') && !name.endsWith('.test.ts')).sort()) {
    hash.update(`${file}\n`).update(readFileSync(join(web, file)))
  }
  // The front page shows pictures of the documentation.
  for (const file of globSync('*.webp', { cwd: pictures }).sort())
    hash.update(`${file}\n`).update(readFileSync(join(pictures, file)))
  const { dependencies } = JSON.parse(readFileSync(join(web, '..', 'package.json'), 'utf8'))
  return hash.update(`${dependencies.vite} ${dependencies.preact}`).digest('hex')
}

export async function isBuilt(): Promise<boolean> {
  return (await readFile(join(output, 'built.txt'), 'utf8').catch(() => '')) === sourcesHash()
}

/** Builds the pages in a temporary folder, which then replaces the old folder, so that a running server always finds complete pages. */
async function build() {
  const hash = sourcesHash()
  const { build: bundle } = await import('vite')
  const staging = `${output}-${process.pid}`
  await rm(staging, { recursive: true, force: true })
  await bundle({ configFile: join(web, 'vite.config.ts'), build: { outDir: staging, emptyOutDir: true } })
  await compress(staging)
  await writeFile(join(staging, 'built.txt'), hash)
  const old = `${output}-old-${process.pid}`
  await rename(output, old).catch(() => {})
  await rename(staging, output)
  await rm(old, { recursive: true, force: true })
}

/** Compresses the assets once, at the highest level, instead of on every request. */
async function compress(folder: string) {
  await mkdir(join(folder, 'assets'), { recursive: true })
  for (const name of await readdir(join(folder, 'assets'))) {
    if (!/\.(js|css|svg)$/.test(name)) continue
    const path = join(folder, 'assets', name)
    const bytes = await readFile(path)
    const brotli = {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }
    await writeFile(`${path}.br`, brotliCompressSync(bytes, brotli))
    await writeFile(`${path}.gz`, gzipSync(bytes, { level: 9 }))
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !(await isBuilt())) await build()

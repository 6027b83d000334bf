import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { CodeSample } from '../../server/openapi/code-samples.ts'
import { languages } from './languages.ts'

// Compiles the code samples of all operations in openapi/*.json: all samples of a language together, which takes seconds.

const root = fileURLToPath(new URL('../../', import.meta.url))

interface SampleCheck {
  /** Returns the path and the content of the file of a sample. */
  file: (source: string, name: string) => [path: string, content: string]
  /** Other files of the project. */
  projectFiles?: Record<string, string>
  /** Shell command that fails if a sample does not compile, in the folder of the files. */
  command: string
}

const tsconfig = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'es2022',
    module: 'nodenext',
    moduleDetection: 'force',
    types: ['node'],
  },
  include: ['*.ts'],
}

const checks: Record<string, SampleCheck> = {
  TypeScript: {
    file: (source, name) => [`${name}.ts`, source],
    projectFiles: { 'tsconfig.json': JSON.stringify(tsconfig), 'package.json': '{ "type": "module" }' },
    command: `'${process.execPath}' node_modules/typescript/bin/tsc --project .`,
  },
  Python: {
    file: (source, name) => [`${name}.py`, source],
    command: `python3 -c 'import glob
for name in glob.glob("*.py"):
    compile(open(name).read(), name, "exec")'`,
  },
  PHP: {
    file: (source, name) => [`${name}.php`, source],
    command: `php -r 'foreach (glob("*.php") as $name) {
      try { token_get_all(file_get_contents($name), TOKEN_PARSE); }
      catch (ParseError $error) { echo $name, ": ", $error->getMessage(), PHP_EOL; exit(1); }
    }'`,
  },
  // One package, so that the standard library is loaded once.
  Go: {
    file: (source, name) => [`${name}.go`, `${source.replace('func main()', `func ${name}()`)}\n`],
    projectFiles: { 'go.mod': 'module samples\n\ngo 1.19\n', 'main.go': 'package main\n\nfunc main() {}\n' },
    command: 'gofmt -d . >format.diff; cat format.diff; test ! -s format.diff; go vet .',
  },
  // Every sample has the class Example.
  Java: {
    file: (source, name) => [`${name}/Example.java`, `package ${name};\n${source}`],
    command: 'javac -J-XX:TieredStopAtLevel=1 -proc:none --release 17 -d classes */Example.java',
  },
  Shell: { file: (source, name) => [`${name}.sh`, source], command: 'for file in *.sh; do bash -n "$file"; done' },
}

for (const [language, check] of Object.entries(checks)) {
  const { needs, fast } = languages.find(({ heading }) => heading === language) ?? { needs: {}, fast: true }
  test(`every ${language} sample of the API descriptions compiles`, { skip: findSkipReason(needs, fast) }, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'attestry-samples-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const files = new Map(Object.entries(check.projectFiles ?? {}))
    const samples = readSamples(language)
    assert.ok(samples.size > 100, `${samples.size} samples`)
    for (const [name, source] of samples) files.set(...check.file(source, name))
    for (const [path, content] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
    const { status, stdout, stderr } = spawnSync('bash', ['-euc', check.command], { cwd: folder, encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
  })
}

/** Returns the samples of a language, by a name that is unique across the APIs. */
function readSamples(language: string): Map<string, string> {
  const samples = new Map<string, string>()
  for (const api of ['partner', 'verification', 'catalogue']) {
    const { paths } = JSON.parse(readFileSync(join(root, `openapi/${api}.json`), 'utf8'))
    for (const operation of Object.values<any>(paths).flatMap((path) => Object.values<any>(path))) {
      const sample = (operation['x-codeSamples'] as CodeSample[]).find(({ lang }) => lang === language)
      assert.ok(sample, `${operation.operationId} has a sample in ${language}`)
      samples.set(`${api}_${operation.operationId}`, sample.source)
    }
  }
  return samples
}

function findSkipReason(needs: Record<string, string>, fast: boolean): string | false {
  if (fast === (process.env.TEST_SLOW_SDKS === '1')) return fast ? 'runs in npm test' : 'runs in npm run verify'
  const missing = Object.keys(needs).filter((name) => spawnSync('sh', ['-c', needs[name]!]).status !== 0)
  return missing.length > 0 && `not installed: ${missing.join(', ')}`
}

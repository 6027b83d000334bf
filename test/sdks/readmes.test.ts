import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { assertBlocksRun, readBlocks } from '../contract/code-blocks.ts'
import { copyCheckout } from '../support/checkout-copy.ts'
import { languages } from './languages.ts'

// Combines the parts of programs in the README of each SDK to one program, and compiles or loads it. test/sdks/sdks.test.ts runs a whole
// program of each SDK.

const root = fileURLToPath(new URL('../../', import.meta.url))

interface ReadmeProgram {
  file: string
  /** Returns the program with the blocks of the README. */
  program: (blocks: string[]) => string
  /** Shell commands that compile the program in its folder, which is next to the checkout `attestry`. */
  compile: string
}

const programs: Record<string, ReadmeProgram> = {
  go: {
    file: 'main.go',
    program: ([firstCall, errorHandling, lists, webhooks]) => `package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	attestry "github.com/attestry/attestry/sdks/go"
)

func main() {
	ctx := context.Background()
${firstCall}
	fmt.Println(shifts)
${errorHandling}
${lists}
${webhooks!.replace('// Store the event', 'fmt.Println(data)\n\t// Store the event')}
}
`,
    compile: [
      'go mod init readme 2>/dev/null',
      readBlocks('sdks/go/README.md', ['sh'])[0]!.text,
      'GOFLAGS=-mod=mod go build -o program .',
    ].join('\n'),
  },
  java: {
    file: 'Readme.java',
    program: (blocks) => `import io.github.attestry.*;
import io.github.attestry.model.*;
import io.github.attestry.resource.*;
import java.util.List;
import java.util.Map;

class Readme {
    static void run(byte[] body, Map<String, List<String>> headers) {
${blocks.join('\n')}
    }
}
`,
    compile: `find ${root}sdks/java/src/main -name '*.java' -exec javac -encoding UTF-8 -d classes Readme.java {} +`,
  },
  php: {
    file: 'readme.php',
    program: (blocks) => `<?php
require '${root}sdks/php/autoload.php';
function readme() {
${blocks.join('\n')}
}
foreach (['Client', 'ApiException', 'Webhook', 'WebhookVerificationException', 'Model\\\\WorkflowInput', 'Model\\\\MandateStatus'] as $name) {
    if (!class_exists("Attestry\\\\$name")) throw new Exception("$name does not exist");
}
foreach (['shifts' => 'list', 'workflows' => 'create', 'mandates' => 'all'] as $resource => $method) {
    $client = new Attestry\\Client(baseUrl: 'http://127.0.0.1:1', keyId: 'VFN_TEST_X', secret: 'VFN_SK_X');
    if (!method_exists($client->$resource, $method)) throw new Exception("$resource has no method $method");
}
`,
    compile: 'php readme.php',
  },
  python: {
    file: 'readme.py',
    program: (blocks) => `import inspect
def readme(mandate_id, campaign_id, request_body, request_headers, webhook_secret):
${blocks.join('\n').replaceAll(/^/gm, '    ')}
from attestry import AttestryClient
client = AttestryClient("http://127.0.0.1:1", "VFN_TEST_X", "VFN_SK_X")
for resource, method in [("shifts", "list"), ("mandates", "get"), ("results", "list"), ("sessions", "open"), ("assessments", "generate")]:
    assert callable(getattr(getattr(client, resource), method))
assert {"campaign_id", "status"} <= set(inspect.signature(client.results.list).parameters)
assert "keyword" in inspect.signature(client.catalogue.search_skills).parameters
`,
    compile: 'PYTHONPATH=../attestry/sdks/python/src python3 -B readme.py',
  },
}

for (const [name, { file, program, compile }] of Object.entries(programs)) {
  const { needs, fast } = languages.find(({ blockLanguage }) => blockLanguage === name)!
  const runsNow = fast !== (process.env.TEST_SLOW_SDKS === '1')
  const missing = Object.keys(needs).filter((each) => spawnSync('sh', ['-c', needs[each]!]).status !== 0)
  const skip = !runsNow ? `runs in ${fast ? 'npm test' : 'npm run verify'}` : missing.join(', ')
  test(`${name}: the parts of programs in sdks/${name}/README.md compile together`, { skip: skip || false }, (t) => {
    const folder = createProject(t)
    const blocks = readBlocks(`sdks/${name}/README.md`, [name]).map(({ text }) => text)
    // The first commands install the SDK, see below. sdks.test.ts runs the last ones, which run the tests of the SDK.
    const commands = readBlocks(`sdks/${name}/README.md`, ['sh']).map(({ text }) => text)
    assertBlocksRun(`sdks/${name}/README.md`, [...blocks, commands[0]!, commands.at(-1)!])
    for (const block of blocks)
      assert.ok(program(blocks.map((each) => (each === block ? 'MARKED' : each))).includes('MARKED'))
    writeFileSync(join(folder, file), program(blocks))
    const { status, stdout, stderr } = spawnSync('bash', ['-euc', compile], { cwd: folder, encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
  })
}

interface Installation {
  /** Program that must be installed, with a shell command that succeeds if it is. */
  needs: [program: string, check: string]
  /** Commands before the block of the README. */
  before: string
  env: NodeJS.ProcessEnv
  /** Command that loads the installed package. */
  load: string
}

/** A Python that has pip, setuptools and wheel. The README assumes the `pip` of the reader's Python. */
const python = ['python3', '/usr/bin/python3'].find(
  (each) => spawnSync(each, ['-c', 'import setuptools, wheel, pip'], { cwd: tmpdir() }).status === 0,
)

// The tests do not use the network: the registries are switched off, and pip builds with the setuptools of the machine.
const installations: Record<string, Installation> = {
  php: {
    needs: ['Composer', 'composer --version'],
    before: `echo '{ "repositories": { "packagist.org": false } }' > composer.json`,
    env: { COMPOSER_ALLOW_SUPERUSER: '1', COMPOSER_NO_INTERACTION: '1' },
    load: `php -r 'require "vendor/autoload.php"; exit(class_exists("Attestry\\Client") ? 0 : 1);'`,
  },
  python: {
    needs: ['pip, setuptools and wheel', `test ${python ?? ''}`],
    before: `cd ../attestry; pip() { ${python} -m pip "$@"; }`,
    env: { PIP_NO_INDEX: '1', PIP_NO_BUILD_ISOLATION: '0', PIP_TARGET: 'installed', PIP_ROOT_USER_ACTION: 'ignore' },
    load: `PYTHONPATH=installed ${python} -c 'import attestry; assert "installed" in attestry.__file__; attestry.AttestryClient'`,
  },
}

for (const [name, { needs, before, env, load }] of Object.entries(installations)) {
  const [program, check] = needs
  const skip = spawnSync('sh', ['-c', check]).status === 0 ? false : `needs ${program}`
  test(`${name}: the commands of sdks/${name}/README.md install the SDK`, { skip }, (t) => {
    const folder = createProject(t)
    // The installation writes to the folder of the SDK.
    rmSync(join(folder, '../attestry'))
    copyCheckout(join(folder, '../attestry'), `sdks/${name}`)
    const [install] = readBlocks(`sdks/${name}/README.md`, ['sh'])
    const { status, stdout, stderr } = spawnSync('bash', ['-euc', [before, install!.text, load].join('\n')], {
      cwd: folder,
      env: { ...process.env, ...env, HOME: folder },
      encoding: 'utf8',
    })
    assert.equal(status, 0, stdout + stderr)
  })
}

/** Creates a folder for a program, next to the checkout `attestry`. */
function createProject(t: TestContext): string {
  const parent = mkdtempSync(join(tmpdir(), 'attestry-readme-'))
  t.after(() => rmSync(parent, { recursive: true, force: true }))
  symlinkSync(root, join(parent, 'attestry'))
  const folder = join(parent, 'project')
  mkdirSync(folder)
  return folder
}

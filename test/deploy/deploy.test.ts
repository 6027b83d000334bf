import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { cp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { assertBlocksRun, readBlocks } from '../contract/code-blocks.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const CHART = join(root, 'deploy/helm/attestry')
/** Where Debian installs libraries for Go. */
const GO_LIBRARIES = '/usr/share/gocode'
/** Python of the operating system, for which Debian packages the Kubernetes client. */
const SYSTEM_PYTHON = '/usr/bin/python3'

const REQUIRED_VALUES = {
  image: { repository: 'registry.example.com/attestry' },
  publicUrl: 'https://verify.example.com',
  operatorEmail: 'you@example.com',
}

interface KubernetesObject {
  kind: string
  metadata: { name: string; annotations?: Record<string, string> }
  spec: any
}

function run(command: string, args: string[], options: { input?: string; env?: NodeJS.ProcessEnv } = {}) {
  return spawnSync(command, args, { encoding: 'utf8', cwd: root, ...options })
}

function hasProgram(name: string): boolean {
  return run('sh', ['-c', `command -v ${name}`]).status === 0
}

/** Renders the chart with the functions of Helm's templates; `npm test` has no Helm. */
function renderChart(values: object) {
  return run('go', ['run', join(root, 'test/deploy/render-chart/main.go'), CHART, JSON.stringify(values)], {
    env: { ...process.env, GO111MODULE: 'off', GOPATH: GO_LIBRARIES, GOFLAGS: '' },
  })
}

const cannotRender =
  hasProgram('go') && existsSync(join(GO_LIBRARIES, 'src/github.com/Masterminds/sprig'))
    ? false
    : 'needs the Debian packages golang-go, golang-github-masterminds-sprig-dev and golang-gopkg-yaml.v3-dev'

test('the chart renders deployments that are non-root, read-only, probed and without secrets', {
  skip: cannotRender,
}, () => {
  const { status, stdout, stderr } = renderChart({
    ...REQUIRED_VALUES,
    api: { autoscaling: { enabled: true } },
    worker: { autoscaling: { enabled: true } },
    ingress: { enabled: true, tlsSecretName: 'certificate' },
    env: { LOG_LEVEL: 'debug' },
  })
  assert.equal(status, 0, stderr)
  const objects = JSON.parse(stdout) as KubernetesObject[]
  assert.deepEqual(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort(), [
    'Deployment demo-api',
    'Deployment demo-worker',
    'HorizontalPodAutoscaler demo-api',
    'HorizontalPodAutoscaler demo-worker',
    'Ingress demo',
    'Job demo-migrate',
    'PodDisruptionBudget demo-api',
    'PodDisruptionBudget demo-worker',
    'Service demo',
  ])
  for (const { spec } of objects.filter(({ kind }) => kind === 'Deployment' || kind === 'Job')) {
    const pod = spec.template.spec
    const [container] = pod.containers
    assert.equal(pod.securityContext.runAsNonRoot, true)
    assert.equal(container.securityContext.readOnlyRootFilesystem, true)
    assert.deepEqual(container.securityContext.capabilities.drop, ['ALL'])
    assert.equal(pod.volumes[0].secret.defaultMode, 0o440)
    const names = container.env.map(({ name }: { name: string }) => name)
    assert.ok(names.includes('MASTER_KEY_FILE') && names.includes('LOG_LEVEL'), names.join())
  }
  const workerScaler = objects.find(
    ({ kind, metadata }) => kind === 'HorizontalPodAutoscaler' && metadata.name === 'demo-worker',
  )
  assert.equal(workerScaler!.spec.metrics[0].external.metric.name, 'attestry_backlog_oldest_seconds')
  const job = objects.find(({ kind }) => kind === 'Job')!
  assert.equal(job.metadata.annotations!['helm.sh/hook'], 'pre-install,pre-upgrade')
  const ingress = objects.find(({ kind }) => kind === 'Ingress')!
  assert.equal(ingress.spec.rules[0].host, 'verify.example.com')

  const checksKubernetes = run(SYSTEM_PYTHON, ['-c', 'import kubernetes']).status === 0
  if (!checksKubernetes) return
  const check = run(SYSTEM_PYTHON, [join(root, 'test/deploy/check-kubernetes.py')], { input: stdout })
  assert.equal(check.status, 0, check.stdout + check.stderr)
})

test('the commands of the guide for Kubernetes create the Secret that the installed chart mounts', {
  skip: cannotRender || (hasProgram('kubectl') ? false : 'needs kubectl'),
}, (t) => {
  const folder = createFolder(t)
  const blocks = readBlocks('docs/guides/run-on-kubernetes.md').map(({ text }) => text)
  assertBlocksRun('docs/guides/run-on-kubernetes.md', blocks)
  // There is no cluster: kubectl prints the Secret instead of creating it, and the chart is rendered with the values of the command.
  const script = [
    'kubectl() { command kubectl "$@" --dry-run=client --output json > secret.json; }',
    `helm() { test "$1 $2 $3" = 'install attestry deploy/helm/attestry'; shift 3; printf '%s\\n' "$@" > options; }`,
    ...blocks,
  ].join('\n')
  const commands = spawnSync('bash', ['--norc', '-euc', script], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
    encoding: 'utf8',
  })
  assert.equal(commands.status, 0, commands.stderr)
  const { metadata, data } = JSON.parse(readFileSync(join(folder, 'secret.json'), 'utf8'))
  assert.equal(Buffer.from(atob(data['master-key']), 'base64').length, 32)
  assert.match(atob(data['admin-api-key']), /^adm_[0-9a-f]{64}$/)

  const options = readFileSync(join(folder, 'options'), 'utf8').trim().split('\n')
  const values = {}
  for (let index = 0; index < options.length; index += 2) {
    assert.equal(options[index], '--set')
    setValue(values, options[index + 1]!)
  }
  const { status, stdout, stderr } = renderChart(values)
  assert.equal(status, 0, stderr)
  const pods = (JSON.parse(stdout) as KubernetesObject[]).filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
  assert.equal(pods.length, 3)
  for (const { spec } of pods) {
    const { secret } = spec.template.spec.volumes[0]
    assert.equal(secret.secretName, metadata.name)
    const { env } = spec.template.spec.containers[0]
    for (const key of Object.keys(data)) {
      const variable = `${key.toUpperCase().replaceAll('-', '_')}_FILE`
      assert.ok(
        env.some(
          ({ name, value }: { name: string; value?: string }) => name === variable && value?.endsWith(`/${key}`),
        ),
        variable,
      )
    }
  }
})

/** Sets a value as Helm does for `--set`: `a.b=c` or `a.b={c,d}`. */
function setValue(values: Record<string, any>, assignment: string): void {
  const [, path, text] = /^([\w.]+)=(.*)$/.exec(assignment)!
  const names = path!.split('.')
  const last = names.pop()!
  let parent = values
  for (const name of names) parent = parent[name] ??= {}
  const list = /^\{(.*)\}$/.exec(text!)
  parent[last] = list ? list[1]!.split(',') : text === 'true' || (text === 'false' ? false : text)
}

test('the chart names a required value that is missing', { skip: cannotRender }, () => {
  const { status, stderr } = renderChart({ ...REQUIRED_VALUES, publicUrl: '' })
  assert.notEqual(status, 0)
  assert.match(stderr, /set publicUrl, such as https:\/\/verify\.example\.com/)
})

test('the chart passes helm lint', { skip: hasProgram('helm') ? false : 'needs helm' }, () => {
  const sets = ['image.repository=attestry', 'publicUrl=https://verify.example.com', 'operatorEmail=you@example.com']
  const { status, stdout, stderr } = run('helm', ['lint', CHART, ...sets.flatMap((set) => ['--set', set])])
  assert.equal(status, 0, stdout + stderr)
})

test('the version of the chart is that of the server', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const chart = readFileSync(join(CHART, 'Chart.yaml'), 'utf8')
  assert.match(chart, new RegExp(`^version: ${version}$`, 'm'))
  assert.match(chart, new RegExp(`^appVersion: ${version}$`, 'm'))
})

test('every secret of compose.yaml is a file that create-secrets.sh writes once and only its folder opens', async (t) => {
  const folder = createFolder(t)
  await cp(join(root, 'deploy/create-secrets.sh'), join(folder, 'create-secrets.sh'))
  const first = run('sh', [join(folder, 'create-secrets.sh')])
  assert.equal(first.status, 0, first.stderr)
  const compose = readFileSync(join(root, 'deploy/compose.yaml'), 'utf8')
  const declared = [...compose.matchAll(/\{ file: \.\/secrets\/([\w-]+) \}/g)].map(([, name]) => name!).sort()
  const written = globSync('*', { cwd: join(folder, 'secrets') }).sort()
  assert.deepEqual(written, declared)
  assert.equal(statSync(join(folder, 'secrets')).mode & 0o777, 0o700)
  for (const [, name] of compose.matchAll(/_FILE: \/run\/secrets\/([\w-]+)$/gm))
    assert.ok(declared.includes(name!), name)
  const masterKey = readFileSync(join(folder, 'secrets/master-key'), 'utf8')
  assert.equal(Buffer.from(masterKey, 'base64').length, 32)
  const second = run('sh', [join(folder, 'create-secrets.sh')])
  assert.match(second.stdout, /secrets\/master-key exists and was not changed/)
  assert.equal(readFileSync(join(folder, 'secrets/master-key'), 'utf8'), masterKey)
  assert.doesNotMatch(compose, /^ *\w*(PASSWORD|_KEY|SECRET):/m)
})

test('the template of the configuration file describes every variable that the server reads', () => {
  const { status, stderr } = run(process.execPath, [join(root, 'scripts/env-template.ts'), '--check'])
  assert.equal(status, 0, stderr)
})

test('the systemd unit is valid', {
  skip: hasProgram('systemd-analyze') ? false : 'needs systemd-analyze',
}, async (t) => {
  const folder = createFolder(t)
  // The check wants the program of ExecStart to exist.
  const unit = readFileSync(join(root, 'deploy/systemd/attestry.service'), 'utf8')
  await writeFile(
    join(folder, 'attestry.service'),
    unit.replace('ExecStart=/opt/attestry/bin/attestry', `ExecStart=${process.execPath}`),
  )
  const verify = run('systemd-analyze', ['verify', join(folder, 'attestry.service')])
  assert.equal(verify.status, 0, verify.stderr)
  assert.doesNotMatch(verify.stderr, /attestry\.service/)
})

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-deploy-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { httpsSkipReason, startHttpsServer } from '../../../test/support/https-server.ts'
import { createDocumentFetcher } from './fetch-document.ts'

const noRules = { allow: [], onLoopback: false }

test('documents are fetched over HTTPS, with limits', { skip: httpsSkipReason }, async (t) => {
  const server = await startHttpsServer(({ url }, response) => {
    if (url === '/large') return response.end('x'.repeat(2000))
    if (url === '/moved') return response.writeHead(302, { location: '/document' }).end()
    if (url === '/loop') return response.writeHead(302, { location: '/loop' }).end()
    if (url === '/metadata') return response.writeHead(302, { location: 'https://169.254.169.254/' }).end()
    if (url === '/plain') return response.writeHead(302, { location: 'http://localhost/' }).end()
    if (url === '/elsewhere') return response.writeHead(302, { location: 'https://evil.example/document' }).end()
    if (url === '/document') return response.end('{"a":1}')
    if (url === '/list?page=2') return response.end('{"page":2}')
    response.writeHead(404).end()
  })
  t.after(() => server.close())
  const fetchDocument = createDocumentFetcher({
    rules: { allow: ['localhost'], onLoopback: false },
    ca: server.certificate,
  })
  const fetchPath = (path: string) => fetchDocument(server.url + path, 1000)

  assert.equal(await fetchPath('/document'), '{"a":1}')
  assert.equal(await fetchPath('/moved'), '{"a":1}')
  assert.equal(await fetchPath('/list?page=2'), '{"page":2}')
  await assert.rejects(fetchPath('/large'), { message: 'is larger than 1 KB' })
  await assert.rejects(fetchPath('/loop'), { message: 'could not be fetched: it has more than 3 redirects' })
  await assert.rejects(fetchPath('/missing'), { message: 'could not be fetched: the server responded with 404' })
  for (const [path, host] of [
    ['/metadata', '169.254.169.254'],
    ['/plain', 'localhost'],
    ['/elsewhere', 'evil.example'],
  ] as const)
    await assert.rejects(fetchPath(path), {
      message: `could not be fetched: it redirects to another server, ${host}`,
    })

  const distrustful = createDocumentFetcher({ rules: { allow: ['localhost'], onLoopback: false } })
  await assert.rejects(distrustful(`${server.url}/document`, 1000), {
    message: /certificate of the server is not valid/,
  })
  const guarded = createDocumentFetcher({ rules: noRules, ca: server.certificate })
  await assert.rejects(guarded(`${server.url}/document`, 1000), {
    message: /address that is not allowed: it must not be localhost/,
  })
})

test('a host that resolves to a private address is not connected to', async () => {
  const fetchDocument = createDocumentFetcher({
    rules: noRules,
    resolve: async () => [{ address: '10.0.0.1', family: 4 }],
  })
  await assert.rejects(fetchDocument('https://internal.example/did.json', 1000), {
    message: /address that is not allowed: it must not resolve to a private address/,
  })
})

test('a server that does not respond, or sends its document slowly, is given up after the time limit', {
  skip: httpsSkipReason,
}, async (t) => {
  const server = await startHttpsServer(({ url }, response) => {
    if (url === '/silent') return
    const timer = setInterval(() => response.write(' '), 50)
    response.on('close', () => clearInterval(timer))
  })
  t.after(() => server.close())
  const fetchDocument = createDocumentFetcher({
    rules: { allow: ['localhost'], onLoopback: false },
    ca: server.certificate,
    timeoutMs: 500,
  })
  for (const path of ['/silent', '/slow'])
    await assert.rejects(fetchDocument(server.url + path, 100_000), { message: 'could not be fetched within 0.5 s' })
})

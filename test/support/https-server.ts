import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Why HTTPS servers cannot be started on this machine; false if they can. */
export const httpsSkipReason: string | false =
  spawnSync('openssl', ['version']).status !== 0 && 'openssl is not installed'

export interface HttpsServer {
  /** `https://localhost:PORT` */
  url: string
  certificate: string
  /** File with the certificate, for NODE_EXTRA_CA_CERTS. */
  certificateFile: string
  close(): Promise<void>
}

/** Starts a server on localhost with a certificate of its own. */
export async function startHttpsServer(handler: RequestListener): Promise<HttpsServer> {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-https-'))
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const { status, stderr } = spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...[
      '-keyout',
      keyFile,
      '-out',
      certificateFile,
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost',
    ],
  ])
  assert.equal(status, 0, String(stderr))
  const certificate = readFileSync(certificateFile, 'utf8')
  const server = createServer({ key: readFileSync(keyFile), cert: certificate }, handler).listen(0, 'localhost')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `https://localhost:${port}`,
    certificate,
    certificateFile,
    async close() {
      server.close()
      server.closeAllConnections()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

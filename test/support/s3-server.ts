import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Cleanup } from './cleanup.ts'

export interface S3Server {
  /** Variables that configure this server and the bucket `backups`. */
  env: Record<string, string>
  objects: Map<string, Buffer>
  /** Method and path of every accepted request. */
  requests: string[]
  /** If set, called before a request is handled; the response waits for it. */
  onRequest: ((request: string) => Promise<void> | void) | undefined
  /** Whether only the first half of a backup is sent, without ending the response. Lists of erasures are sent whole. */
  sendsHalf: boolean
}

/** S3 accepts smaller parts only at the end of an upload. */
const MIN_PART_BYTES = 5 * 1024 * 1024
const REGION = 'ap-south-1'
const ACCESS_KEY_ID = 'AKIATEST'
const SECRET_ACCESS_KEY = 'test/secret+key'

/** Starts a server with the parts of the S3 protocol that backups use. It rejects requests whose signature or body hash is wrong. */
export async function startS3(t: Cleanup): Promise<S3Server> {
  const uploads = new Map<string, Buffer[]>()
  const s3: S3Server = {
    env: {
      BACKUP_S3_REGION: REGION,
      BACKUP_S3_ACCESS_KEY_ID: ACCESS_KEY_ID,
      BACKUP_S3_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY,
      BACKUP_TO: 's3://backups/attestry',
    },
    objects: new Map(),
    requests: [],
    onRequest: undefined,
    sendsHalf: false,
  }
  const server = createServer((request, response) => {
    handle(request, response).catch((error: Error) => sendError(response, 500, 'InternalError', error.message))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  s3.env.BACKUP_S3_ENDPOINT = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return s3

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const url = new URL(request.url!, 'http://s3')
    const problem = findSignatureProblem(request, url, body)
    if (problem) return sendError(response, 403, 'SignatureDoesNotMatch', problem)
    const name = `${request.method} ${url.pathname}${url.searchParams.has('partNumber') ? ' part' : ''}`
    s3.requests.push(name)
    await s3.onRequest?.(name)
    const key = decodeURIComponent(url.pathname.replace(/^\/backups\/?/, ''))
    const uploadId = url.searchParams.get('uploadId')
    if (request.method === 'POST' && url.searchParams.has('uploads')) {
      const id = `upload ${uploads.size + 1}+/=`
      uploads.set(id, [])
      return send(response, `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
    }
    if (uploadId !== null) {
      const parts = uploads.get(uploadId)
      if (!parts) return sendError(response, 404, 'NoSuchUpload', 'unknown upload')
      if (request.method === 'PUT') {
        parts[Number(url.searchParams.get('partNumber')) - 1] = body
        response.setHeader('etag', `"${createHash('md5').update(body).digest('hex')}"`)
        return send(response, '')
      }
      uploads.delete(uploadId)
      if (request.method === 'POST' && parts.slice(0, -1).some(({ length }) => length < MIN_PART_BYTES))
        return sendError(response, 400, 'EntityTooSmall', 'A part that is not the last one is too small.')
      if (request.method === 'POST') s3.objects.set(key, Buffer.concat(parts))
      return send(response, '<CompleteMultipartUploadResult/>')
    }
    if (request.method === 'GET' && url.searchParams.get('list-type') === '2') return sendList(response, url)
    if (request.method === 'DELETE') s3.objects.delete(key)
    const object = s3.objects.get(key)
    if (request.method === 'GET' && !object) return sendError(response, 404, 'NoSuchKey', 'The key does not exist.')
    if (object && s3.sendsHalf && key.endsWith('.attestry-backup'))
      response.write(object.subarray(0, object.length / 2))
    else response.end(object)
  }

  /** Lists one object per page, so that clients must ask for the next page. */
  function sendList(response: ServerResponse, url: URL): void {
    const keys = [...s3.objects.keys()].filter((key) => key.startsWith(url.searchParams.get('prefix') ?? '')).sort()
    const start = Number(url.searchParams.get('continuation-token') ?? 0)
    const entries = keys
      .slice(start, start + 1)
      .map((key) => `<Contents><Key>${key}</Key><Size>${s3.objects.get(key)!.length}</Size></Contents>`)
    const next = start + 1 < keys.length ? `<NextContinuationToken>${start + 1}</NextContinuationToken>` : ''
    send(response, `<ListBucketResult>${entries.join('')}${next}</ListBucketResult>`)
  }
}

function send(response: ServerResponse, xml: string): void {
  response.setHeader('content-type', 'application/xml')
  response.end(xml)
}

function sendError(response: ServerResponse, status: number, code: string, message: string): void {
  response.statusCode = status
  send(response, `<Error><Code>${code}</Code><Message>${message}</Message></Error>`)
}

/** Computes the signature of a request by the rules of Signature Version 4, and returns what differs. */
function findSignatureProblem(request: IncomingMessage, url: URL, body: Buffer): string | undefined {
  const header = request.headers.authorization ?? ''
  const [, credential, signedHeaders, signature] =
    /^AWS4-HMAC-SHA256 Credential=(\S+), ?SignedHeaders=(\S+), ?Signature=([0-9a-f]{64})$/.exec(header) ?? []
  if (!credential || !signedHeaders) return 'no Authorization header of Signature Version 4'
  const time = String(request.headers['x-amz-date'])
  const scope = `${time.slice(0, 8)}/${REGION}/s3/aws4_request`
  if (credential !== `${ACCESS_KEY_ID}/${scope}`) return 'the credential has another key, date or region'
  if (!signedHeaders.split(';').includes('host')) return 'the host is not signed'
  const bodyHash = createHash('sha256').update(body).digest('hex')
  if (request.headers['x-amz-content-sha256'] !== bodyHash) return 'x-amz-content-sha256 is not the hash of the body'
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
  const path = url.pathname
    .split('/')
    .map((segment) => encode(decodeURIComponent(segment)))
    .join('/')
  const headerLines = signedHeaders.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`)
  const canonicalRequest = [request.method, path, query, headerLines.join(''), signedHeaders, bodyHash].join('\n')
  const textToSign = [
    'AWS4-HMAC-SHA256',
    time,
    scope,
    createHash('sha256').update(canonicalRequest).digest('hex'),
  ].join('\n')
  const signingKey = scope
    .split('/')
    .reduce<Buffer>((key, part) => hmac(key, part), Buffer.from(`AWS4${SECRET_ACCESS_KEY}`))
  return hmac(signingKey, textToSign).toString('hex') === signature ? undefined : 'the signature is wrong'
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { AwsClient } from 'aws4fetch'
import { type BackupDestination, isBackupName, type StoredBackup } from './destination.ts'

export interface S3Settings {
  endpoint: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

/** Size of the parts of an upload. S3 accepts at most 10,000 parts, so that a backup can have 156 GB. */
const PART_BYTES = 16 * 1024 * 1024
const MAX_RETRIES = 5
const EMPTY_SHA256 = createHash('sha256').digest('hex')

/** Stores backups in a bucket with the S3 protocol: Signature Version 4, path-style addresses and multipart uploads. */
export function openS3Destination(bucket: string, prefix: string, settings: S3Settings): BackupDestination {
  const client = new AwsClient({ ...settings, service: 's3', retries: MAX_RETRIES })
  const bucketUrl = `${settings.endpoint.replace(/\/$/, '')}/${encodeURIComponent(bucket)}`
  const keyPrefix = prefix === '' ? '' : `${prefix}/`

  return {
    location: `s3://${bucket}/${prefix}`,
    async write(name, content) {
      const uploadId = findValue(await (await send('POST', name, '?uploads=')).text(), 'UploadId')
      if (!uploadId) throw new Error(`${settings.endpoint} returned no ID for the upload; check BACKUP_S3_ENDPOINT`)
      const upload = `uploadId=${encodeURIComponent(uploadId)}`
      try {
        return await uploadParts(name, upload, content)
      } catch (error) {
        await send('DELETE', name, `?${upload}`).catch(() => {}) // otherwise the stored parts cost money
        throw error
      }
    },
    async *read(name) {
      const { body } = await send('GET', name)
      yield* Readable.fromWeb(body as never) as AsyncIterable<Buffer>
    },
    async list(matches = isBackupName) {
      const backups: StoredBackup[] = []
      let token: string | undefined
      do {
        const query = `?list-type=2&prefix=${encodeURIComponent(keyPrefix)}${token ? `&continuation-token=${encodeURIComponent(token)}` : ''}`
        const text = await (await send('GET', undefined, query)).text()
        for (const [, entry] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
          const name = (findValue(entry!, 'Key') ?? '').slice(keyPrefix.length)
          if (matches(name)) backups.push({ name, bytes: Number(findValue(entry!, 'Size')) })
        }
        token = findValue(text, 'NextContinuationToken')
      } while (token)
      return backups.sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    async remove(name) {
      await send('DELETE', name)
    },
  }

  async function uploadParts(name: string, upload: string, content: AsyncIterable<Buffer>): Promise<number> {
    const tags: string[] = []
    let bytes = 0
    for await (const part of joinParts(content)) {
      const response = await send('PUT', name, `?partNumber=${tags.length + 1}&${upload}`, part)
      const tag = response.headers.get('etag')
      if (!tag) throw new Error(`${settings.endpoint} returned no ETag for a part; check BACKUP_S3_ENDPOINT`)
      tags.push(tag)
      bytes += part.length
    }
    const parts = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`)
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
    const text = await (await send('POST', name, `?${upload}`, body)).text()
    // This call can return an error with the status 200.
    if (text.includes('<Error>')) throw new Error(errorText('completing the upload', 200, text))
    return bytes
  }

  async function send(method: string, name: string | undefined, query = '', body?: Buffer): Promise<Response> {
    const key = name === undefined ? '' : `${keyPrefix}${name}`
    const path = key.split('/').map(encodeURIComponent).join('/')
    const hash = body ? createHash('sha256').update(body).digest('hex') : EMPTY_SHA256
    const response = await client
      .fetch(`${bucketUrl}/${path}${query}`, {
        method,
        headers: { 'x-amz-content-sha256': hash },
        ...(body ? { body: new Uint8Array(body) } : {}),
      })
      .catch((error: Error) => {
        const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
        throw new Error(
          `connecting to ${settings.endpoint} failed (${error.message}${cause}); check BACKUP_S3_ENDPOINT`,
        )
      })
    if (!response.ok) throw new Error(errorText(`${method} ${bucket}/${key}`, response.status, await response.text()))
    return response
  }

  function errorText(action: string, status: number, text: string): string {
    const code = findValue(text, 'Code')
    const message = findValue(text, 'Message')
    return `the storage ${settings.endpoint} rejected ${action} with status ${status}${code ? ` ${code}` : ''}${message ? `: ${message}` : ''}; check BACKUP_TO and the BACKUP_S3_ variables`
  }
}

/** Joins small parts to parts of the size that S3 requires. */
async function* joinParts(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = []
  let bytes = 0
  for await (const part of content) {
    pending.push(part)
    bytes += part.length
    if (bytes < PART_BYTES) continue
    yield Buffer.concat(pending)
    pending = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(pending)
}

/** Returns the text of the first element with this name. The responses of S3 have no attributes that matter and no nested elements of the same name. */
function findValue(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return text
    ?.replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#34;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&')
}

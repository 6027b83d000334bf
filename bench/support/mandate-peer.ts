import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../server/platform/postgres/embedded.ts'

// A minimal server that accepts signed mandates, for comparison: Fastify, one signature check and one INSERT into a table whose only
// index is the primary key.
const [dataDir, secret] = process.argv.slice(2) as [string, string]
const { connection } = await startEmbeddedPostgres({ dataDir, role: 'command', log: () => {} })
const pool = new pg.Pool({ ...connection, max: 20 })
await pool.query(
  'create table if not exists bench_inserts (id bigint generated always as identity primary key, body text not null, created_at timestamptz not null)',
)
const app = fastify()
app.removeAllContentTypeParsers()
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
app.post('/*', async (request, reply) => {
  const body = request.body as Buffer
  const { 'x-timestamp': timestamp, 'x-signature': signature } = request.headers
  const stringToSign = `VFN1\n${timestamp}\nPOST\n${request.raw.url}\n\n\n${hash('sha256', body)}`
  const expectedSignature = createHmac('sha256', secret).update(stringToSign).digest()
  if (!timingSafeEqual(expectedSignature, Buffer.from(String(signature).slice(3), 'hex')))
    return reply.status(401).send()
  JSON.parse(body.toString())
  const { rows } = await pool.query({
    name: 'insert',
    text: 'insert into bench_inserts (body, created_at) values ($1, $2) returning id',
    values: [body.toString(), new Date()],
  })
  return reply.status(202).send({ success: true, message: 'Accepted', data: { id: rows[0].id } })
})
await app.listen({ port: 0, host: '127.0.0.1' })
process.send!((app.server.address() as AddressInfo).port)

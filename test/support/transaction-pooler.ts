import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import pg from 'pg'
import type { Cleanup } from './cleanup.ts'

const READY = message('Z', Buffer.from('I'))
const PROTOCOL_3 = 196_608

/** Starts a pooler that gives all connections the same session of PostgreSQL, and returns its URL. It supports simple queries only. */
export async function startTransactionPooler(t: Cleanup, databaseUrl: string): Promise<string> {
  const session = new pg.Client({ connectionString: databaseUrl })
  session.on('error', () => {}) // the database may be dropped before the pooler stops
  await session.connect()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    serveConnection(socket, session)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await session.end().catch(() => {})
  })
  const { port } = server.address() as { port: number }
  return `postgres://pooled@127.0.0.1:${port}/pooled`
}

function serveConnection(socket: Socket, session: pg.Client): void {
  let received = Buffer.alloc(0)
  let isStarted = false
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    for (;;) {
      const headerLength = isStarted ? 5 : 4
      if (received.length < headerLength) return
      const length = received.readInt32BE(headerLength - 4) + headerLength - 4
      if (received.length < length) return
      const body = received.subarray(headerLength, length)
      const type = isStarted ? String.fromCharCode(received[0]!) : 'startup'
      received = received.subarray(length)
      if (type === 'startup' && body.readInt32BE(0) === PROTOCOL_3) {
        isStarted = true
        socket.write(Buffer.concat([message('R', int32(0)), READY]))
      } else if (type === 'Q') void runQuery(socket, session, body.toString('utf8', 0, body.length - 1))
      else if (type === 'X') socket.end()
    }
  })
}

async function runQuery(socket: Socket, session: pg.Client, text: string): Promise<void> {
  const { rows, fields, command } = await session.query({
    text,
    rowMode: 'array',
    types: { getTypeParser: () => String },
  })
  socket.write(
    Buffer.concat([
      message('T', int16(fields.length), ...fields.map(describeField)),
      ...rows.map((row) => message('D', int16(row.length), ...row.map(encodeValue))),
      message('C', Buffer.from(`${command}\0`)),
      READY,
    ]),
  )
}

function describeField({ name, dataTypeID }: pg.FieldDef): Buffer {
  return Buffer.concat([
    Buffer.from(`${name}\0`),
    int32(0),
    int16(0),
    int32(dataTypeID),
    int16(-1),
    int32(-1),
    int16(0),
  ])
}

function encodeValue(value: string | null): Buffer {
  if (value === null) return int32(-1)
  const bytes = Buffer.from(value)
  return Buffer.concat([int32(bytes.length), bytes])
}

function message(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}

function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2)
  buffer.writeInt16BE(value)
  return buffer
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeInt32BE(value)
  return buffer
}

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// A webhook endpoint in a separate process. On request, it reports how many webhooks it received and when.
let count = 0
let arrivals: [eventId: string, arrivedAt: number][] = []

const server = createServer((request, response) => {
  const id = request.headers['webhook-id'] as string
  request.on('data', () => {})
  request.on('end', () => {
    count++
    if (request.url === '/timed') arrivals.push([id, performance.timeOrigin + performance.now()])
    if (request.url === '/failing') return void setTimeout(() => response.writeHead(500).end('not now'), 50)
    response.writeHead(204).end()
  })
})
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
process.on('message', (command) => {
  if (command === 'count') process.send!(count)
  else if (command === 'reset') {
    count = 0
    process.send!(0)
  } else {
    process.send!(arrivals)
    arrivals = []
  }
})

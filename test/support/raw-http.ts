import { connect } from 'node:net'

/** Sends raw bytes and returns the response. */
export function sendRaw(url: string, bytes: string | Buffer): Promise<{ status: number; head: string; body: any }> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes))
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n')
      resolve({ status: Number(head.split(' ')[1]), head, body: /^[[{]/.test(body) ? JSON.parse(body) : body })
    })
  })
}

import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** Parts of a response that a server has to check. */
export interface ResponseParts {
  challenge: string
  origin?: string
  rpId?: string
  type?: string
  isPresent?: boolean
  isVerified?: boolean
  counter?: number
}

const AAGUID = Buffer.alloc(16)
const USER_PRESENT = 1
const USER_VERIFIED = 4
const HAS_CREDENTIAL = 64

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

/** Creates an authenticator with one passkey for `http://localhost`, whose responses can be wrong in each part. */
export function createAuthenticator() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x, y } = publicKey.export({ format: 'jwk' })
  const credentialId = randomBytes(16)
  // COSE: an EC2 key (1: 2) for ES256 (3: -7) on P-256 (-1: 1), with its coordinates.
  const coseKey = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x!, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y!, 'base64url'),
  ])
  const id = credentialId.toString('base64url')
  const responseOf = (response: Record<string, Buffer>) => ({
    id,
    rawId: id,
    type: 'public-key',
    response: Object.fromEntries(Object.entries(response).map(([name, value]) => [name, value.toString('base64url')])),
    clientExtensionResults: {},
  })

  function authenticatorData(parts: ResponseParts, credential?: Buffer): Buffer {
    const { rpId = 'localhost', isPresent = true, isVerified = true, counter = 0 } = parts
    const flags =
      (isPresent ? USER_PRESENT : 0) |
      (isVerified ? USER_VERIFIED : 0) |
      (credential === undefined ? 0 : HAS_CREDENTIAL)
    const head = Buffer.alloc(5)
    head.writeUInt8(flags)
    head.writeUInt32BE(counter, 1)
    return Buffer.concat([sha256(rpId), head, credential ?? Buffer.alloc(0)])
  }

  const clientData = (type: string, { challenge, origin = 'http://localhost', ...parts }: ResponseParts) =>
    Buffer.from(JSON.stringify({ type: parts.type ?? type, challenge, origin }))

  return {
    id,
    /** Returns the response of the browser after it created the passkey. */
    register(parts: ResponseParts) {
      const idLength = Buffer.from([0, credentialId.length])
      const authData = authenticatorData(parts, Buffer.concat([AAGUID, idLength, credentialId, coseKey]))
      // CBOR: { fmt: 'none', attStmt: {}, authData }.
      const head = Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex')
      return responseOf({
        clientDataJSON: clientData('webauthn.create', parts),
        attestationObject: Buffer.concat([head, Buffer.from([authData.length]), authData]),
      })
    },
    /** Returns the response of the browser after the passkey signed a challenge. */
    signIn(parts: ResponseParts) {
      const clientDataJSON = clientData('webauthn.get', parts)
      const authData = authenticatorData(parts)
      const signature = sign('sha256', Buffer.concat([authData, sha256(clientDataJSON)]), privateKey)
      return responseOf({ clientDataJSON, authenticatorData: authData, signature })
    },
  }
}

import { createIssuer, type SampleIssuer } from './credentials.ts'
import { type HttpsServer, startHttpsServer } from './https-server.ts'

/** Starts an HTTPS server that publishes the DID document and the status list of an issuer, as this server does. */
export async function startIssuerServer(): Promise<{ issuer: SampleIssuer; server: HttpsServer }> {
  const server = await startHttpsServer(async ({ url }, response) => {
    const document =
      url === '/organisations/ORG_1/did.json'
        ? issuer.didDocument
        : url === '/credentials/status/1'
          ? await issuer.signStatusList()
          : undefined
    response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  })
  const issuer = await createIssuer(server.url)
  return { issuer, server }
}

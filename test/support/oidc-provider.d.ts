// oidc-provider has no types of its own. These are the parts that the tests use.

declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface ProviderContext {
    path: string
    type: string
    set(header: string, value: string): void
    body: any
    oidc: any
  }

  export default class Provider {
    constructor(issuer: string, configuration: object)
    Grant: new (
      values: object,
    ) => { addOIDCScope(scope: string): void; addOIDCClaims(claims: string[]): void; save(): Promise<string> }
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
    use(middleware: (context: ProviderContext, next: () => Promise<void>) => Promise<void>): void
  }
}

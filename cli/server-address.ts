import { readServerAddress } from '../server/access/demo-files.ts'
import { type Config, localUrl } from '../server/config.ts'

/** Returns PUBLIC_URL, or the address that the running server stored. */
export async function serverAddress({ publicUrl, dataDir, host, port }: Config): Promise<string> {
  return publicUrl ?? (await readServerAddress(dataDir)) ?? localUrl(host, port)
}

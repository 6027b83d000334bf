import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../api/problem.ts'
import type { App } from '../platform/http/server.ts'

const DIST_FOLDER = fileURLToPath(new URL('../../web/dist', import.meta.url))

/** Forbids other origins and inline scripts, so that injected markup cannot run. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The empty icon of the built pages, which prevents a request for `/favicon.ico`. */
const ICON_PATTERN = /<link rel="icon" href="data:,"\s*\/?>/

const PAGE_HEADERS = {
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), payment=()',
  'cache-control': 'no-store',
}

/** For browsers that do not support `frame-ancestors`. The header cannot name an origin, so pages that may be in a frame do not have it. */
const FRAME_DENIED_HEADERS = { 'x-frame-options': 'DENY' }

const CONTENT_TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
  webmanifest: 'application/manifest+json',
  png: 'image/png',
  webp: 'image/webp',
}

/** Time for which browsers use a script of an unchanged address without asking for a newer version. */
const SCRIPT_MAX_AGE_SECONDS = 300

/** A response body in the encodings that a browser may accept. */
export interface EncodedBody {
  plain: Buffer
  br: Buffer | undefined
  gzip: Buffer | undefined
}

interface Asset extends EncodedBody {
  type: string
}

interface PageParts {
  /** Markup added to the head, such as a preload link; escaped by the caller. */
  head?: string
  /** Markup added at the start of the body; escaped by the caller. */
  body?: string
  language?: string
  status?: number
  /** Allows the page to show other pages of this server in frames. */
  allowFrames?: boolean
  /** The origin of the only website that may show the page in a frame; by default, no website may. */
  frameAncestor?: string
  /** CSS that is added to that of the page. */
  style?: string
  /** Path of the icon in the tab of the browser. */
  icon?: string
  /** Embeds the style sheets in the page, so that the first paint needs no other request. */
  inlineStyles?: boolean
}

/** The built HTML of a page, and the hash of its embedded style sheet if it has one. */
interface PageShell {
  html: string
  styleHash?: string
}

export interface Pages {
  /** Sends a page of web/, with the given parts inserted. */
  send(request: FastifyRequest, reply: FastifyReply, page: string, parts?: PageParts): Promise<FastifyReply>
  /** Sends a script for pages of other websites, whose address does not change when its content does. */
  sendScript(request: FastifyRequest, reply: FastifyReply, name: string): Promise<FastifyReply>
}

/** Serves the built pages and assets of web/. Files are few and small: each is read once and cached. */
export function servePages(app: App): Pages {
  const assetsByName = new Map<string, Promise<Asset>>()
  /** The built HTML of each page, into which `send` inserts the parts. */
  const shellsByPage = new Map<string, Promise<PageShell>>()
  const scriptFilesByName = new Map<string, string>()

  app.get('/assets/:name', async (request, reply) => {
    const { name } = request.params as { name: string }
    const asset = await findAsset(name)
    reply.type(asset.type).headers({
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    })
    return sendEncoded(request, reply, asset)
  })

  return {
    async send(
      request,
      reply,
      page,
      {
        head = '',
        body = '',
        language = 'en',
        status = 200,
        style = '',
        icon,
        allowFrames = false,
        frameAncestor,
        inlineStyles = false,
      } = {},
    ) {
      const shell = await pageShell(page, inlineStyles)
      const hashes = [...(shell.styleHash ? [shell.styleHash] : []), ...(style ? [hashStyle(style)] : [])]
      const policy = CONTENT_SECURITY_POLICY.replace(
        "style-src 'self'",
        ["style-src 'self'", ...hashes.map((hash) => `'${hash}'`)].join(' '),
      ).replace("frame-ancestors 'none'", () => `frame-ancestors ${frameAncestor ?? "'none'"}`)
      const styleElement = style ? `<style>${style}</style>` : ''
      const html = shell.html
        .replace('<html lang="en">', () => `<html lang="${language}">`)
        .replace('</head>', () => `${head}${styleElement}</head>`)
        .replace(ICON_PATTERN, (link) => (icon ? `<link rel="icon" href="${icon}">` : link))
        .replace('<body>', () => `<body>${body}`)
      reply
        .status(status)
        .type('text/html; charset=utf-8')
        .headers({
          ...PAGE_HEADERS,
          ...(frameAncestor === undefined ? FRAME_DENIED_HEADERS : {}),
          'content-security-policy': allowFrames ? `${policy}; frame-src 'self'` : policy,
          vary: 'accept-encoding',
        })
      return sendEncoded(request, reply, compressText(html))
    },
    async sendScript(request, reply, name) {
      const file = scriptFilesByName.get(name) ?? (await findScriptFile(name))
      scriptFilesByName.set(name, file)
      const etag = `"${file.slice(name.length + 1, -'.js'.length)}"`
      reply.headers({
        'cache-control': `public, max-age=${SCRIPT_MAX_AGE_SECONDS}`,
        etag,
        vary: 'accept-encoding',
        // Websites with a policy for embedded resources, or with an integrity attribute, can load it.
        'cross-origin-resource-policy': 'cross-origin',
        'access-control-allow-origin': '*',
      })
      if (request.headers['if-none-match']?.split(/,\s*/).includes(etag)) return reply.status(304).send()
      const asset = await findAsset(file)
      return sendEncoded(request, reply.type(asset.type), asset)
    },
  }

  function findAsset(name: string): Promise<Asset> {
    let asset = assetsByName.get(name)
    if (!asset) {
      asset = readAsset(name)
      assetsByName.set(name, asset)
      asset.catch(() => assetsByName.delete(name))
    }
    return asset
  }

  function pageShell(page: string, inlineStyles: boolean): Promise<PageShell> {
    const key = `${page} ${inlineStyles}`
    let shell = shellsByPage.get(key)
    if (!shell) {
      shell = readShell(page, inlineStyles)
      shellsByPage.set(key, shell)
      shell.catch(() => shellsByPage.delete(key))
    }
    return shell
  }
}

async function readShell(page: string, inlineStyles: boolean): Promise<PageShell> {
  const html = await readFile(join(DIST_FOLDER, page, 'index.html'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw new Error(`The page ${page} is missing in web/dist. Restart the server to build the pages.`)
  })
  if (!inlineStyles) return { html }
  const linkPattern = /\s*<link rel="stylesheet"[^>]*? href="\/assets\/([\w.-]+\.css)"[^>]*>/g
  // The bundler does not keep the order of the imports. The page's own sheet must follow the shared ones, which it overrides.
  const isOwn = (name: string) => Number(name.startsWith(`${page}-`))
  const names = [...html.matchAll(linkPattern)].map(([, name]) => name!).sort((a, b) => isOwn(a) - isOwn(b))
  const sheets = await Promise.all(names.map((name) => readFile(join(DIST_FOLDER, 'assets', name), 'utf8')))
  const style = sheets.map((sheet) => sheet.trim()).join('\n')
  const styleHash = hashStyle(style)
  return { html: html.replace(linkPattern, '').replace('</head>', () => `<style>${style}</style></head>`), styleHash }
}

function hashStyle(style: string): string {
  return `sha256-${createHash('sha256').update(style).digest('base64')}`
}

/** Returns the name of the built file of a script, which contains a hash. */
async function findScriptFile(name: string): Promise<string> {
  const assetNames: string[] = await readdir(join(DIST_FOLDER, 'assets')).catch(() => [])
  const file = assetNames.find((asset) => asset.startsWith(`${name}-`) && asset.endsWith('.js'))
  if (file === undefined)
    throw new Error(`The script ${name} is missing in web/dist. Restart the server to build the pages.`)
  return file
}

async function readAsset(name: string): Promise<Asset> {
  const type = CONTENT_TYPES[/\.(\w+)$/.exec(name)?.[1] ?? '']
  const assetNames: string[] = await readdir(join(DIST_FOLDER, 'assets')).catch(() => [])
  if (!type || !assetNames.includes(name)) throw problem('NOT_FOUND', `File ${name} not found.`)
  const path = join(DIST_FOLDER, 'assets', name)
  return {
    type,
    plain: await readFile(path),
    br: assetNames.includes(`${name}.br`) ? await readFile(`${path}.br`) : undefined,
    gzip: assetNames.includes(`${name}.gz`) ? await readFile(`${path}.gz`) : undefined,
  }
}

/**
 * Compresses pages although they are only a few kilobytes, because fewer packets matter on a slow connection. Quality 5 is fast. Each
 * encoding is computed when it is first sent.
 */
export function compressText(text: string): EncodedBody {
  const plainBytes = Buffer.from(text)
  let br: Buffer | undefined
  let gzip: Buffer | undefined
  return {
    plain: plainBytes,
    get br() {
      br ??= brotliCompressSync(plainBytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
      return br
    },
    get gzip() {
      gzip ??= gzipSync(plainBytes)
      return gzip
    },
  }
}

/** Sends a body in the best encoding that the client accepts. The caller sets `vary`. */
export function sendEncoded({ headers }: FastifyRequest, reply: FastifyReply, asset: EncodedBody): FastifyReply {
  const acceptEncoding = String(headers['accept-encoding'] ?? '')
  for (const [name, pattern] of [['br', /\bbr\b/] as const, ['gzip', /\bgzip\b/] as const]) {
    const bytes = pattern.test(acceptEncoding) ? asset[name] : undefined
    if (bytes) return reply.header('content-encoding', name).send(bytes)
  }
  return reply.send(asset.plain)
}

/** Returns a script element that contains JSON. The value cannot close the element. */
export function jsonBlock(id: string, value: unknown): string {
  const text = JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `<script type="application/json" id="${id}">${text}</script>`
}

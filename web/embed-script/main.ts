// The custom element `<attestry-embed src="…">`, with which websites show an embedded page. It is served at /embed.js, as a script without
// imports. It runs in the pages of other websites, so it declares no global names, and uses no syntax for which the bundler adds helpers.
;(() => {
  /** Time after the frame has loaded within which its page must report itself. A frame that the browser has blocked does not. */
  const REPORT_TIMEOUT_MS = 3_000
  const DEFAULT_TITLE = 'Attestry'
  const DEFAULT_ERROR_TEXT = 'This content could not be shown. Reload the page, or try again later.'
  const MIN_HEIGHT_PX = 120

  interface EmbedState {
    /** Whether the page in the frame has sent a message. */
    hasReported: boolean
    timer?: ReturnType<typeof setTimeout>
    onMessage: (event: MessageEvent) => void
  }

  const states = new WeakMap<HTMLElement, EmbedState>()

  function showFrame(element: HTMLElement): void {
    removeContent(element)
    const src = element.getAttribute('src')
    if (!src) return
    const url = parseUrl(src)
    if (url) addFrame(element, url)
    else fail(element, 'INVALID_SRC')
  }

  function addFrame(element: HTMLElement, url: URL): void {
    const frame = document.createElement('iframe')
    const state: EmbedState = {
      hasReported: false,
      onMessage: (event) => receive(element, frame, url.origin, event),
    }
    states.set(element, state)
    addEventListener('message', state.onMessage)
    frame.title = element.title || DEFAULT_TITLE
    frame.referrerPolicy = 'no-referrer'
    // Candidates can dictate answers.
    frame.allow = 'microphone'
    Object.assign(frame.style, { display: 'block', width: '100%', border: '0', height: `${MIN_HEIGHT_PX}px` })
    frame.addEventListener('load', () => {
      if (!state.hasReported) state.timer = setTimeout(() => fail(element, 'BLOCKED'), REPORT_TIMEOUT_MS)
    })
    frame.src = url.href
    element.append(frame)
  }

  function parseUrl(text: string): URL | undefined {
    try {
      const url = new URL(text)
      return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
    } catch {
      return undefined
    }
  }

  function removeContent(element: HTMLElement): void {
    const state = states.get(element)
    if (state) {
      clearTimeout(state.timer)
      removeEventListener('message', state.onMessage)
      states.delete(element)
    }
    element.textContent = ''
  }

  /** Handles a message of the frame, and ignores those of other windows and other origins. */
  function receive(element: HTMLElement, frame: HTMLIFrameElement, frameOrigin: string, event: MessageEvent): void {
    const message = event.data
    if (event.source !== frame.contentWindow || event.origin !== frameOrigin || message?.source !== 'attestry') return
    const state = states.get(element)!
    state.hasReported = true
    clearTimeout(state.timer)
    if (message.type === 'resize') {
      const height = Number(message.height)
      if (!(height >= 0)) return
      frame.style.height = `${Math.max(MIN_HEIGHT_PX, height)}px`
      dispatch(element, 'resize', { height })
    } else if (message.type === 'ready') dispatch(element, 'ready', {})
    else if (message.type === 'completed') dispatch(element, 'completed', { status: String(message.status) })
    else if (message.type === 'failed') dispatch(element, 'failed', { code: String(message.code) })
  }

  /** Shows an error in place of the frame, whose own page cannot explain it. */
  function fail(element: HTMLElement, code: string): void {
    removeContent(element)
    const paragraph = document.createElement('p')
    paragraph.setAttribute('role', 'alert')
    paragraph.textContent = element.getAttribute('error-text') || DEFAULT_ERROR_TEXT
    element.append(paragraph)
    dispatch(element, 'failed', { code })
  }

  function dispatch(element: HTMLElement, type: string, detail: object): void {
    element.dispatchEvent(new CustomEvent(type, { detail }))
  }

  class AttestryEmbed extends HTMLElement {
    static get observedAttributes() {
      return ['src']
    }

    connectedCallback() {
      if (!this.style.display) this.style.display = 'block'
      showFrame(this)
    }

    disconnectedCallback() {
      removeContent(this)
    }

    attributeChangedCallback() {
      if (this.isConnected) showFrame(this)
    }
  }

  // The script may be included twice.
  if (!customElements.get('attestry-embed')) customElements.define('attestry-embed', AttestryEmbed)
})()

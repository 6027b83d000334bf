/** Colours of an organisation, and their contrast by the formula of WCAG 2.2. */

/** The contrast that WCAG requires of text (success criterion 1.4.3, level AA). */
const MIN_CONTRAST = 4.5

const WHITE = '#ffffff'
const BLACK = '#000000'
/** `--paper` of `web/ui/base.css`: the darkest light background that text in the colour is shown on. */
const LIGHT_PAGE = '#f6f5f1'
/** `--card` of the dark theme in `web/ui/base.css`: the lightest dark background that text in the colour is shown on. */
const DARK_PAGE = '#1b211e'

const COLOUR_PATTERN = /^#[0-9a-f]{6}$/i
/** Step of the lightness, from 0 to 1, in which the nearest colour with enough contrast is searched. */
const LIGHTNESS_STEP = 0.005
const MAX_LIGHT_TINT = 0.12
const MAX_DARK_TINT = 0.22
const TINT_STEP = 0.02

/**
 * The colours of both themes. No colour has a contrast of 4.5 with white text and with a dark page at once, so the dark theme has a lighter
 * shade of the same hue, with black text on it.
 */
export interface BrandColours {
  light: string
  lightText: string
  lightTint: string
  dark: string
  darkText: string
  darkTint: string
}

export interface ColourCheck {
  colour: string
  isReadable: boolean
  /** Contrast of white text on the colour. */
  whiteText: number
  /** Contrast of the colour with the light page. */
  lightPage: number
  /** Contrast of the shade for the dark theme with the dark page. */
  darkPage: number
  /** The colour itself if it is readable, else the nearest readable colour of the same hue. */
  suggestion: string
  /** The colours that pages use with the suggestion. */
  colours: BrandColours
}

export function isColour(text: string): boolean {
  return COLOUR_PATTERN.test(text)
}

/** Checks whether a colour such as `#1d5fbf` is readable, and returns the nearest colour that is. */
export function checkColour(text: string): ColourCheck {
  const colour = text.toLowerCase()
  const suggestion = nearestColour(colour, -LIGHTNESS_STEP, isReadableOnLight)
  const colours = brandColours(suggestion)
  return {
    colour,
    isReadable: isReadableOnLight(colour),
    whiteText: roundedContrast(colour, WHITE),
    lightPage: roundedContrast(colour, LIGHT_PAGE),
    darkPage: roundedContrast(colours.dark, DARK_PAGE),
    suggestion,
    colours,
  }
}

/** Returns the colours of both themes for a readable colour. */
export function brandColours(colour: string): BrandColours {
  const dark = nearestColour(colour, LIGHTNESS_STEP, (each) => contrast(each, DARK_PAGE) >= MIN_CONTRAST)
  return {
    light: colour,
    lightText: WHITE,
    lightTint: strongestTint(colour, WHITE, MAX_LIGHT_TINT),
    dark,
    darkText: BLACK,
    darkTint: strongestTint(dark, DARK_PAGE, MAX_DARK_TINT),
  }
}

function isReadableOnLight(colour: string): boolean {
  return contrast(colour, WHITE) >= MIN_CONTRAST && contrast(colour, LIGHT_PAGE) >= MIN_CONTRAST
}

/** Returns the contrast ratio of two colours, from 1 to 21. */
export function contrast(colour: string, other: string): number {
  const [darker, lighter] = [luminance(colour), luminance(other)].sort((a, b) => a - b) as [number, number]
  return (lighter + 0.05) / (darker + 0.05)
}

/** Rounds down, so that a contrast that is too low is never shown as high enough. */
function roundedContrast(colour: string, other: string): number {
  return Math.floor(contrast(colour, other) * 100) / 100
}

function luminance(colour: string): number {
  const [red, green, blue] = channelsOf(colour).map((channel) =>
    channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4,
  ) as Channels
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Red, green and blue, or hue, saturation and lightness, each from 0 to 1. */
type Channels = [number, number, number]

function channelsOf(colour: string): Channels {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16) / 255) as Channels
}

function toHex(channels: Channels): string {
  return `#${channels
    .map((channel) =>
      Math.round(Math.min(1, Math.max(0, channel)) * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
}

/** Changes the lightness step by step, until a colour is accepted; black and white are the last candidates. */
function nearestColour(colour: string, step: number, isAccepted: (colour: string) => boolean): string {
  const [hue, saturation, initialLightness] = toHsl(channelsOf(colour))
  let candidate = colour
  for (let lightness = initialLightness; !isAccepted(candidate) && lightness > 0 && lightness < 1; ) {
    lightness += step
    candidate = toHex(fromHsl([hue, saturation, lightness]))
  }
  return isAccepted(candidate) ? candidate : step < 0 ? BLACK : WHITE
}

/** Mixes as much of a colour into a background as keeps the colour readable on the mixture. */
function strongestTint(colour: string, background: string, maxShare: number): string {
  for (let share = maxShare; share > 0; share -= TINT_STEP) {
    const tint = mix(colour, background, share)
    if (contrast(colour, tint) >= MIN_CONTRAST) return tint
  }
  return background
}

function mix(colour: string, background: string, share: number): string {
  const backgroundChannels = channelsOf(background)
  return toHex(
    channelsOf(colour).map((channel, index) => channel * share + backgroundChannels[index]! * (1 - share)) as Channels,
  )
}

function toHsl([red, green, blue]: Channels): Channels {
  const max = Math.max(red, green, blue)
  const min = Math.min(red, green, blue)
  const range = max - min
  const lightness = (max + min) / 2
  if (range === 0) return [0, 0, lightness]
  const saturation = range / (1 - Math.abs(2 * lightness - 1))
  const sector =
    max === red
      ? ((green - blue) / range + 6) % 6
      : max === green
        ? (blue - red) / range + 2
        : (red - green) / range + 4
  return [sector / 6, saturation, lightness]
}

function fromHsl([hue, saturation, lightness]: Channels): Channels {
  const range = saturation * Math.min(lightness, 1 - lightness)
  return [0, 8, 4].map((offset) => {
    const sector = (offset + hue * 12) % 12
    return lightness - range * Math.max(-1, Math.min(sector - 3, 9 - sector, 1))
  }) as Channels
}

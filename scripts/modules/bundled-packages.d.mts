export declare const BUNDLED_IMPORTS: string[]
export declare function bundlesFolder(): string
export declare function bundlesOption(): string

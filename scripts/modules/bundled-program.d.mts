export declare function programFolder(): string
export declare function writeProgramBundles(): Promise<void>

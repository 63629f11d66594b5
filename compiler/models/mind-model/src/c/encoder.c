
#if READS_IMAGES
#define READS "PIXELS"
#define PRINTS (ENC_HAS_CLASSIFY ? "the score of each class" : "the mean of the vectors")
#define OF "of an image: PIXELS is a file of f32 bits, of each channel its rows"
#else
#define READS "TOKENS"
#define PRINTS "the mean of the vectors"
#define OF "of TOKENS, such as 1,2,3"
#endif

static int usage(const char *program)
{
    fprintf(stderr,
        "usage: %s " READS " (FILE... | --seed=SEED) [--hidden=OUT]%s\n"
        "Prints %s " OF ".\n"
        "FILE...: %d weight file(s); --seed: made-up weights; --hidden: the f32 bits of the vectors%s.\n",
        program, ENC_HAS_POOL ? " [--pooled=OUT]" : "", PRINTS, FILES,
        ENC_HAS_POOL ? "; --pooled: those of the pooler's" : "");
    return 2;
}

/* Prints numbers on a line. */
static void print_line(const float *numbers, int count)
{
    for (int at = 0; at < count; ++at) {
        printf(at + 1 == count ? "%.9g\n" : "%.9g,", (double)numbers[at]);
    }
}

/* Writes numbers to a file. Returns 1 if it cannot be written. */
static int save(const char *name, const float *numbers, size_t count)
{
    FILE *out = fopen(name, "wb");
    int failed = out == NULL || fwrite(numbers, sizeof(float), count, out) != count;
    failed |= out != NULL && fclose(out) != 0;
    if (failed) {
        fprintf(stderr, "error: %s cannot be written\n", name);
    }
    return failed;
}

int main(int count, char **words)
{
    int length, opened = 0;
    const char *hidden = NULL, *pooled = NULL;
    if (count < 3) {
        return usage(words[0]);
    }
    if (lacks_cpu()) {
        return 1;
    }
#if READS_IMAGES
    length = 1 + ENC_IMAGE / ENC_PATCH * (ENC_IMAGE / ENC_PATCH);
#else
    static uint32_t tokens[ENC_CAPACITY + 1];
    length = parse_tokens(words[1], tokens, ENC_CAPACITY);
    if (length < 0) {
        return 1;
    }
    if (length == 0) {
        fprintf(stderr, "error: no tokens: expected at least one\n");
        return 1;
    }
#endif
    for (int at = 2; at < count; ++at) {
        if (is_seed(words[at])) {
            continue;
        }
        if (value_of(words[at], "--hidden=") != NULL) {
            hidden = value_of(words[at], "--hidden=");
        } else if (ENC_HAS_POOL && value_of(words[at], "--pooled=") != NULL) {
            pooled = value_of(words[at], "--pooled=");
        } else if (opened >= FILES || words[at][0] == '-') {
            return usage(words[0]);
        } else if (open_weights(words[at], &opened) != 0) {
            return 1;
        }
    }
    if (!has_seed && opened != FILES) {
        return usage(words[0]);
    }
#if READS_IMAGES
    float *pixels = read_numbers(words[1], (size_t)ENC_CHANNELS * ENC_IMAGE * ENC_IMAGE);
    if (pixels == NULL) {
        return 1;
    }
    bind_encoder();
    encode(pixels);
    free(pixels);
#else
    bind_encoder();
    encode(tokens, length);
#endif
    int status = 0;
#if ENC_HAS_CLASSIFY
    static float scores[VOCAB];
    struct bound classify_bound = bound(&enc_classify_stage);
    const void *whole[2] = {enc_x, classify_bound.one};
    void *scored[1] = {scores};
    enc_classify_stage.one(whole, scored);
    unbind(classify_bound);
    print_line(scores, VOCAB);
#else
    static float mean[WIDTH];
    for (int element = 0; element < WIDTH; ++element) {
        double sum = 0.0;
        for (int at = 0; at < length; ++at) {
            sum = sum + (double)enc_x[(size_t)at * WIDTH + (size_t)element];
        }
        mean[element] = (float)(sum / (double)length);
    }
    print_line(mean, WIDTH);
#endif
    if (hidden != NULL) {
        status |= save(hidden, enc_x, (size_t)length * WIDTH);
    }
#if ENC_HAS_POOL
    struct bound pool_bound = bound(&enc_pool_stage);
    const void *first[2] = {enc_x, pool_bound.one};
    void *vector[1] = {enc_y};
    enc_pool_stage.one(first, vector);
    if (pooled != NULL) {
        status |= save(pooled, enc_y, WIDTH);
    }
    unbind(pool_bound);
#else
    (void)pooled;
#endif
    unbind_encoder();
    for (int at = 0; at < opened; ++at) {
        fclose(files[at]);
    }
    return status;
}

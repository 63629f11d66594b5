
/* One text. */
static struct bound project_bound[LAYERS], finish_bound[LAYERS];
#if HAS_EMBED
static struct bound embed_bound;
#endif
#if HAS_CLOSE
static struct bound close_bound;
#endif
static float *x, *queries, *keys, *values, *narrow, *whole;
static float mixed[CHUNK * Q_WIDTH], y[CHUNK * WIDTH];
static float *cosines[3], *sines[3];

#if HAS_EMBED || HAS_CLOSE
/* Runs a stage that makes of each row another one. */
static void each_row(const struct stage *stage, const void *bound_weights, int passes)
{
    for (int pass = 0; pass < passes; ++pass) {
        float *rows = x + (size_t)pass * CHUNK * WIDTH;
        const void *inputs[2] = {rows, bound_weights};
        void *outputs[1] = {y};
        stage->many(inputs, outputs);
        memcpy(rows, y, sizeof y);
    }
}
#endif

/* 0 where the queries of pass `pass` may look, and negative infinity elsewhere; those of padding see what the last
   token does. A window of 0 is none. */
static void fill_mask(float *mask, int pass, int window, int count, int seen)
{
    for (int at = 0; at < CHUNK; ++at) {
        int own = pass * CHUNK + at < count ? pass * CHUNK + at : count - 1;
        for (int other = 0; other < seen; ++other) {
            int away = other < own ? own - other : other - own;
            uint32_t bits = other < count && (window == 0 || away < window) ? 0 : 0xff800000u;
            memcpy(&mask[(size_t)at * (size_t)seen + (size_t)other], &bits, 4);
        }
    }
}

/* Runs all layers; the rows of the last one are in `x`. */
static void encode(const uint32_t *tokens, int count)
{
    int passes = (count + CHUNK - 1) / CHUNK, choice = 0;
    while (attention[choice].rows < count) {
        ++choice;
    }
    int seen = attention[choice].rows;
    uint64_t position = FIRST_POSITION;
    for (int at = 0; at < count; ++at) {
        int is_padding = FIRST_POSITION > 0 && tokens[at] + 1 == FIRST_POSITION;
        token_row(tokens[at], is_padding ? tokens[at] : position, x + (size_t)at * WIDTH);
        position += !is_padding;
    }
    for (int at = 0; at < passes * CHUNK; ++at) {
        for (int turning = 0; turning < 3; ++turning) {
            rotation(turning, (uint32_t)at, cosines[turning] + (size_t)at * PAIRS, sines[turning] + (size_t)at * PAIRS);
        }
    }
    fill_mask(whole, 0, 0, count, seen);
#if HAS_EMBED
    each_row(&embed_stage, embed_bound.one, passes);
#endif
    for (int layer = 0; layer < LAYERS; ++layer) {
        const struct stage *project = &project_stages[layer], *finish = &finish_stages[layer];
        int turning = layers[layer].turning, window = layers[layer].window;
        for (int pass = 0; pass < passes; ++pass) {
            size_t row = (size_t)pass * CHUNK;
            const void *rotated[4] = {x + row * WIDTH, cosines[turning] + row * PAIRS, sines[turning] + row * PAIRS,
                project_bound[layer].one};
            const void *straight[2] = {x + row * WIDTH, project_bound[layer].one};
            void *projected[3] = {queries + row * Q_WIDTH, keys + row * KV_WIDTH, values + row * KV_WIDTH};
            project->many(PAIRS > 0 ? rotated : straight, projected);
        }
        size_t unused = sizeof(float) * (size_t)(ROWS - count) * KV_WIDTH;
        memset(keys + (size_t)count * KV_WIDTH, 0, unused);
        memset(values + (size_t)count * KV_WIDTH, 0, unused);
        for (int pass = 0; pass < passes; ++pass) {
            size_t row = (size_t)pass * CHUNK;
            if (window > 0) {
                fill_mask(narrow, pass, window, count, seen);
            }
            const void *looked[5] = {queries + row * Q_WIDTH, keys, values, window > 0 ? narrow : whole, NULL};
            void *found[1] = {mixed};
            attention[choice].many(looked, found);
            const void *behind[3] = {x + row * WIDTH, mixed, finish_bound[layer].one};
            void *finished[1] = {y};
            finish->many(behind, finished);
            memcpy(x + row * WIDTH, y, sizeof y);
        }
    }
#if HAS_CLOSE
    each_row(&close_stage, close_bound.one, passes);
#endif
}

static int usage(const char *program)
{
    fprintf(stderr,
        "usage: %s TOKENS (FILE... | --seed=SEED) [--hidden=OUT]%s\n"
        "Prints the mean of the vectors of TOKENS, such as 1,2,3.\n"
        "FILE...: %d weight file(s); --seed: made-up weights; --hidden: the f32 bits of the vectors%s.\n",
        program, HAS_POOL ? " [--pooled=OUT]" : "", FILES, HAS_POOL ? "; --pooled: those of the pooler's" : "");
    return 2;
}

/* Writes numbers to a file; 1 if it cannot be written. */
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
    static uint32_t tokens[CAPACITY + 1];
    int length, opened = 0;
    const char *hidden = NULL, *pooled = NULL;
    if (count < 3) {
        return usage(words[0]);
    }
    if (MIND_LACKS_CPU) {
        fprintf(stderr, "error: this processor lacks AVX2 or FMA; compile with -DMIND_ANY_CPU\n");
        return 1;
    }
    length = parse_tokens(words[1], tokens);
    if (length < 0) {
        return 1;
    }
    if (length == 0) {
        fprintf(stderr, "error: there is no token\n");
        return 1;
    }
    for (int at = 2; at < count; ++at) {
        if (strncmp(words[at], "--seed=", 7) == 0) {
            has_seed = 1;
            seed = strtoull(words[at] + 7, NULL, 10);
        } else if (strncmp(words[at], "--hidden=", 9) == 0) {
            hidden = words[at] + 9;
        } else if (HAS_POOL && strncmp(words[at], "--pooled=", 9) == 0) {
            pooled = words[at] + 9;
        } else if (opened < FILES && words[at][0] != '-') {
            files[opened] = fopen(words[at], "rb");
            if (files[opened++] == NULL) {
                fprintf(stderr, "error: %s cannot be read\n", words[at]);
                return 1;
            }
        } else {
            return usage(words[0]);
        }
    }
    if (!has_seed && opened != FILES) {
        return usage(words[0]);
    }
    for (int layer = 0; layer < LAYERS; ++layer) {
        project_bound[layer] = bound(&project_stages[layer]);
        finish_bound[layer] = bound(&finish_stages[layer]);
    }
#if HAS_EMBED
    embed_bound = bound(&embed_stage);
#endif
#if HAS_CLOSE
    close_bound = bound(&close_stage);
#endif
    x = room(sizeof(float) * (uint64_t)ROWS * WIDTH);
    queries = room(sizeof(float) * (uint64_t)ROWS * Q_WIDTH);
    keys = room(sizeof(float) * (uint64_t)ROWS * KV_WIDTH);
    values = room(sizeof(float) * (uint64_t)ROWS * KV_WIDTH);
    narrow = room(sizeof(float) * (uint64_t)ROWS * CHUNK);
    whole = room(sizeof(float) * (uint64_t)ROWS * CHUNK);
    for (int turning = 0; turning < 3; ++turning) {
        cosines[turning] = room(sizeof(float) * (uint64_t)ROWS * PAIRS);
        sines[turning] = room(sizeof(float) * (uint64_t)ROWS * PAIRS);
    }
    encode(tokens, length);
    int status = 0;
    for (int element = 0; element < WIDTH; ++element) {
        double sum = 0.0;
        for (int at = 0; at < length; ++at) {
            sum = sum + (double)x[(size_t)at * WIDTH + (size_t)element];
        }
        printf(element + 1 == WIDTH ? "%.9g\n" : "%.9g,", (double)(float)(sum / (double)length));
    }
    if (hidden != NULL) {
        status |= save(hidden, x, (size_t)length * WIDTH);
    }
#if HAS_POOL
    struct bound pool_bound = bound(&pool_stage);
    const void *first[2] = {x, pool_bound.one};
    void *vector[1] = {y};
    pool_stage.one(first, vector);
    if (pooled != NULL) {
        status |= save(pooled, y, WIDTH);
    }
    unbind(pool_bound);
#else
    (void)pooled;
#endif
    for (int layer = 0; layer < LAYERS; ++layer) {
        unbind(project_bound[layer]);
        unbind(finish_bound[layer]);
    }
#if HAS_EMBED
    unbind(embed_bound);
#endif
#if HAS_CLOSE
    unbind(close_bound);
#endif
    float *arrays[] = {x, queries, keys, values, narrow, whole, cosines[0], cosines[1], cosines[2], sines[0], sines[1],
        sines[2]};
    for (size_t at = 0; at < sizeof arrays / sizeof arrays[0]; ++at) {
        free(arrays[at]);
    }
    for (int at = 0; at < opened; ++at) {
        fclose(files[at]);
    }
    return status;
}
